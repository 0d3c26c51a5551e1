//! What a secret is: the name that stands in its placeholder and in the counts.

use serde::{Serialize, Serializer};

macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal,)+) => {
        /// What a secret is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Kind {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Kind {
            /// All kinds, in the order of the counts.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// Stable name: lower case, words joined by hyphens.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }
    };
}

kinds! {
    /// Key or OAuth token of Anthropic: `sk-ant-…`.
    AnthropicKey = "anthropic-key",
    /// Key of `OpenAI` and of the services that took over its form: `sk-…`.
    OpenAiKey = "openai-key",
    /// Token of GitHub, of any of its prefixes.
    GithubToken = "github-token",
    /// Token of GitLab.
    GitlabToken = "gitlab-token",
    /// Id of an access key of AWS; the part that names the other half.
    AwsAccessKey = "aws-access-key",
    /// The half of an AWS key that signs.
    AwsSecretKey = "aws-secret-key",
    /// API key, OAuth token or client secret of Google.
    GoogleKey = "google-key",
    /// Token or webhook of Slack.
    SlackToken = "slack-token",
    /// Secret key of Stripe.
    StripeKey = "stripe-key",
    /// Token of npm.
    NpmToken = "npm-token",
    /// A key of some other service that its prefix gives away.
    ServiceKey = "service-key",
    /// What stands behind the scheme of an `Authorization` header.
    Authorization = "authorization",
    /// JSON Web Token.
    Jwt = "jwt",
    /// Private key in its armour.
    PrivateKey = "private-key",
    /// Password in a URL.
    UrlPassword = "url-password",
    /// What a name such as `DB_PASSWORD` is given.
    Password = "password",
    /// What a name such as `client_secret` is given.
    Secret = "secret",
    /// What a name such as `auth-token` is given.
    Token = "token",
    /// What a name such as `api_key` is given.
    ApiKey = "api-key",
    /// JSON so deep that nobody looked through it.
    DeepJson = "deep-json",
}

impl Kind {
    /// The kind of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
