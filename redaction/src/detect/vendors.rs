//! The tokens that their prefix gives away, as their vendors and the public lists of secret
//! scanners describe them.

use super::token::Shape;
use crate::kind::Kind;

/// Letters and digits alone.
const ALNUM: &[u8] = b"";
const URL_SAFE: &[u8] = b"_-";
const DOTTED: &[u8] = b"_-.";

/// Each prefix ends in a mark, which is where the search stops to look.
pub(super) const VENDORS: &[Shape] = &[
    Shape::new("sk-ant-", Kind::AnthropicKey, URL_SAFE, 12).whole(101),
    Shape::new("sk-proj-", Kind::OpenAiKey, URL_SAFE, 16).whole(156),
    Shape::new("sk-svcacct-", Kind::OpenAiKey, URL_SAFE, 16),
    Shape::new("sk-admin-", Kind::OpenAiKey, URL_SAFE, 16),
    Shape::new("sk-or-", Kind::OpenAiKey, URL_SAFE, 20),
    // The bare prefix is also the middle of `task-…` and the start of names such as
    // `sk-learn-compatible`: it has to be followed by something that is no words.
    Shape::new("sk-", Kind::OpenAiKey, URL_SAFE, 20).whole(48).only_random(),
    Shape::new("ghp_", Kind::GithubToken, ALNUM, 20).whole(36),
    Shape::new("gho_", Kind::GithubToken, ALNUM, 20).whole(36),
    Shape::new("ghu_", Kind::GithubToken, ALNUM, 20).whole(36),
    // Those of apps hold a JWT in their newer form.
    Shape::new("ghs_", Kind::GithubToken, DOTTED, 20).whole(36),
    Shape::new("ghr_", Kind::GithubToken, ALNUM, 20).whole(36),
    Shape::new("github_pat_", Kind::GithubToken, b"_", 20).whole(82),
    Shape::new("glpat-", Kind::GitlabToken, DOTTED, 20).whole(20),
    Shape::new("gldt-", Kind::GitlabToken, URL_SAFE, 20).whole(20),
    Shape::new("glrt-", Kind::GitlabToken, DOTTED, 20).whole(20),
    Shape::new("glptt-", Kind::GitlabToken, URL_SAFE, 40),
    Shape::new("GOCSPX-", Kind::GoogleKey, URL_SAFE, 20).whole(28),
    Shape::new("ya29.", Kind::GoogleKey, URL_SAFE, 20),
    Shape::new("xoxb-", Kind::SlackToken, b"-", 10),
    Shape::new("xoxp-", Kind::SlackToken, b"-", 10),
    Shape::new("xoxa-", Kind::SlackToken, b"-", 10),
    Shape::new("xoxs-", Kind::SlackToken, b"-", 10),
    Shape::new("xoxr-", Kind::SlackToken, b"-", 10),
    Shape::new("xoxo-", Kind::SlackToken, b"-", 10),
    Shape::new("xoxe-", Kind::SlackToken, b"-", 10),
    Shape::new("xoxc-", Kind::SlackToken, b"-", 10),
    Shape::new("xoxd-", Kind::SlackToken, b"-%/+=", 10),
    Shape::new("xapp-", Kind::SlackToken, b"-", 10),
    Shape::new("sk_live_", Kind::StripeKey, ALNUM, 16),
    Shape::new("sk_test_", Kind::StripeKey, ALNUM, 16),
    Shape::new("rk_live_", Kind::StripeKey, ALNUM, 16),
    Shape::new("rk_test_", Kind::StripeKey, ALNUM, 16),
    Shape::new("whsec_", Kind::StripeKey, b"+/=", 20),
    Shape::new("npm_", Kind::NpmToken, ALNUM, 30).whole(36),
    Shape::new("pypi-", Kind::ServiceKey, URL_SAFE, 50),
    Shape::new("hf_", Kind::ServiceKey, ALNUM, 30).whole(34),
    Shape::new("gsk_", Kind::ServiceKey, ALNUM, 30).whole(52),
    Shape::new("xai-", Kind::ServiceKey, ALNUM, 40),
    Shape::new("pplx-", Kind::ServiceKey, ALNUM, 40),
    Shape::new("r8_", Kind::ServiceKey, ALNUM, 30),
    Shape::new("tvly-", Kind::ServiceKey, URL_SAFE, 24),
    Shape::new("SG.", Kind::ServiceKey, DOTTED, 40).whole(66),
    Shape::new("hvs.", Kind::ServiceKey, URL_SAFE, 20),
    Shape::new("dop_v1_", Kind::ServiceKey, ALNUM, 40).whole(64),
    Shape::new("doo_v1_", Kind::ServiceKey, ALNUM, 40).whole(64),
    Shape::new("dckr_pat_", Kind::ServiceKey, URL_SAFE, 20),
    Shape::new("shpat_", Kind::ServiceKey, ALNUM, 32).whole(32),
    Shape::new("shpss_", Kind::ServiceKey, ALNUM, 32).whole(32),
    Shape::new("lin_api_", Kind::ServiceKey, ALNUM, 30),
    Shape::new("sbp_", Kind::ServiceKey, ALNUM, 40).whole(40),
    Shape::new("ntn_", Kind::ServiceKey, ALNUM, 40),
    Shape::new("figd_", Kind::ServiceKey, URL_SAFE, 36),
    Shape::new("sntrys_", Kind::ServiceKey, b"_=+/-", 40),
    Shape::new("PMAK-", Kind::ServiceKey, b"-", 40),
    Shape::new("AGE-SECRET-KEY-", Kind::ServiceKey, ALNUM, 50).whole(59),
];

/// Those whose prefix has no mark, by the capital that the search stops at.
pub(super) const AWS: [Shape; 2] = [
    Shape::new("AKIA", Kind::AwsAccessKey, ALNUM, 16).exactly(),
    Shape::new("ASIA", Kind::AwsAccessKey, ALNUM, 16).exactly(),
];
pub(super) const GOOGLE: Shape = Shape::new("AIza", Kind::GoogleKey, URL_SAFE, 35).exactly();
