//! Each kind of secret, in running text.

use crate::planted::*;
use sepia_redaction::{Kind, Redactor};

#[test]
fn keys_of_models() {
    is_taken(&anthropic(), Kind::AnthropicKey);
    is_taken(&format!("{}-{}-oat01-{}", "sk", "ant", random(40, 80)), Kind::AnthropicKey);
    is_taken(&openai(), Kind::OpenAiKey);
    is_taken(&format!("{}-{}", "sk", random(41, 48)), Kind::OpenAiKey);
    is_taken(&format!("{}-svc{}-{}", "sk", "acct", random(42, 60)), Kind::OpenAiKey);
    is_taken(&format!("{}-or-v1-{}", "sk", drawn(43, 61, b"0123456789abcdef").to_lowercase()), Kind::OpenAiKey);
}

#[test]
fn tokens_of_github_of_all_prefixes() {
    for letter in ["p", "o", "u", "s", "r"] {
        is_taken(&format!("{}{letter}_{}", "gh", random(44, 36)), Kind::GithubToken);
    }
    is_taken(&format!("{}_{}_{}_{}", "github", "pat", random(45, 22), random(46, 59)), Kind::GithubToken);
    let of_an_app = format!("{}s_123456_{}", "gh", jwt());
    is_taken(&of_an_app, Kind::GithubToken);
}

#[test]
fn keys_of_clouds_and_services() {
    is_taken(&aws_id(), Kind::AwsAccessKey);
    is_taken(&format!("{}za{}", "AI", random(47, 35)), Kind::GoogleKey);
    is_taken(&format!("{}{}-{}", "GOC", "SPX", random(48, 28)), Kind::GoogleKey);
    is_taken(&format!("{}29.a0Af_{}", "ya", random(49, 100)), Kind::GoogleKey);
    is_taken(&format!("{}xb-{}-{}", "xo", "123456789012-123456789012", random(50, 24)), Kind::SlackToken);
    is_taken(&format!("{}xp-{}-{}", "xo", "123456789012-123456789012", random(51, 32)), Kind::SlackToken);
    is_taken(&format!("{}pp-1-A0123-{}", "xa", random(52, 60)), Kind::SlackToken);
    is_taken(&format!("{}_live_{}", "sk", random(53, 24)), Kind::StripeKey);
    is_taken(&format!("{}_test_{}", "rk", random(54, 99)), Kind::StripeKey);
    // Its base64 may hold slashes, so that it is not told from a folder behind it.
    becomes(&format!("signed with {}sec_{}/+a=;", "wh", random(55, 32)), "signed with [stripe-key];");
    is_taken(&format!("{}m_{}", "np", random(56, 36)), Kind::NpmToken);
    is_taken(&format!("{}at-{}", "glp", random(57, 20)), Kind::GitlabToken);
    is_taken(&format!("{}f_{}", "h", random(58, 34)), Kind::ServiceKey);
    is_taken(&format!("{}G.{}.{}", "S", random(59, 22), random(60, 43)), Kind::ServiceKey);
}

#[test]
fn the_two_halves_of_an_aws_key() {
    let (id, secret) = (aws_id(), aws_secret());
    becomes(&format!("{id}:{secret}"), "[aws-access-key]:[aws-secret-key]");
    becomes(&format!("{id},{secret}\n"), "[aws-access-key],[aws-secret-key]\n");
    becomes(&format!("secret {secret}, id {id}"), "secret [aws-secret-key], id [aws-access-key]");
    becomes(
        &format!("[default]\naws_access_key_id = {id}\naws_secret_access_key = {secret}\nregion = eu-west-1\n"),
        "[default]\naws_access_key_id = [aws-access-key]\naws_secret_access_key = [aws-secret-key]\nregion = eu-west-1\n",
    );
    becomes(
        &format!("export AWS_ACCESS_KEY_ID={id} AWS_SECRET_ACCESS_KEY={secret} DB_PASSWORD=a1"),
        "export AWS_ACCESS_KEY_ID=[aws-access-key] AWS_SECRET_ACCESS_KEY=[aws-secret-key] DB_PASSWORD=[password]",
    );
    // The name alone is enough, the id doesn't have to be near.
    becomes(&format!("AWS_SECRET_ACCESS_KEY={secret}"), "AWS_SECRET_ACCESS_KEY=[aws-secret-key]");
    let hash = "3f786850e387550fdab836ed7e6dc881de23001b";
    becomes(&format!("{id} at {hash}"), &format!("[aws-access-key] at {hash}"));
    // The pair that the vendor's documents show has the whole form of one.
    let (id, secret) =
        (format!("{}IAIOSFODNN7EXAMPLE", "AK"), format!("wJalrXUtnFEMI/K7{}/bPxRfiCYEXAMPLEKEY", "MDENG"));
    becomes(&format!("{id} / {secret}"), "[aws-access-key] / [aws-secret-key]");
}

#[test]
fn authorization_headers() {
    let opaque = random(61, 32);
    becomes(&format!("Authorization: Bearer {opaque}"), "Authorization: Bearer [authorization]");
    becomes(
        &format!("curl -H \"Authorization: Bearer {opaque}\" https://example.com/a"),
        "curl -H \"Authorization: Bearer [authorization]\" https://example.com/a",
    );
    becomes(&format!("authorization: bearer {opaque}\r\nHost: x"), "authorization: bearer [authorization]\r\nHost: x");
    becomes("Authorization: Basic dXNlcjpodW50ZXIy\n", "Authorization: Basic [authorization]\n");
    becomes(&format!("Authorization: token {}", github()), "Authorization: token [github-token]");
    becomes(&format!("{{\"Authorization\": \"Bearer {}\"}}", jwt()), "{\"Authorization\": \"Bearer [jwt]\"}");
    becomes(
        &format!("\\\"authorization\\\":\\\"Bearer {opaque}\\\"}}"),
        "\\\"authorization\\\":\\\"Bearer [authorization]\\\"}",
    );
    becomes(&format!("sends Bearer {opaque}."), "sends Bearer [authorization].".trim_end_matches('.'));
    for text in [
        "Authorization: Bearer $TOKEN",
        "Authorization: Bearer ${API_KEY}",
        "Authorization: Bearer <your-token>",
        "Authorization: Bearer YOUR_API_KEY",
        "Authorization: Bearer xxxx",
        "Bearer authentication is used",
        "Authorization: Bearer {token}",
        "Use Bearer tokens, not Basic authentication.",
        "headers['Authorization'] = `Bearer ${token}`",
        "Authorization: required",
    ] {
        stays(text);
    }
}

#[test]
fn json_web_tokens() {
    is_taken(&jwt(), Kind::Jwt);
    stays("eyJhbGciOiJIUzI1NiJ9 is only a header");
    stays("eyJhbGciOiJIUzI1NiJ9.eyJhIjoxfQ lacks the last part");
}

#[test]
fn private_keys_over_several_lines() {
    for label in ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "] {
        for line_end in ["\n", "\r\n", "\\n", "\\\\n", "\\r\\n", "\n    "] {
            let key = private_key(label, line_end);
            becomes(&format!("$ cat key\n{key}\n$ exit"), "$ cat key\n[private-key]\n$ exit");
        }
    }
    // The same key is the same however its lines end.
    let mut redactor = Redactor::new();
    let plain = redactor.text(&private_key("RSA ", "\n")).into_owned();
    assert_eq!(redactor.text(&private_key("RSA ", "\\n")), plain);
    assert_eq!(redactor.count(), 1);
}

#[test]
fn private_keys_with_a_missing_end() {
    let key = private_key("", "\n");
    let head: Vec<&str> = key.lines().take(5).collect();
    becomes(&format!("{}\nand more", head.join("\n")), "[private-key]\nand more");
    let tail: Vec<&str> = key.lines().skip(5).collect();
    becomes(&format!("of the file:\n{}\nand more", tail.join("\n")), "of the file:\n[private-key]\nand more");
}

#[test]
fn what_is_no_private_key() {
    let dashes = "-".repeat(5);
    stays(&format!("{dashes}BEGIN PUBLIC KEY{dashes}\n{}\n{dashes}END PUBLIC KEY{dashes}", random(62, 64)));
    stays(&format!("{dashes}BEGIN CERTIFICATE{dashes}\n{}\n{dashes}END CERTIFICATE{dashes}", random(63, 64)));
    stays(&format!("starts with `{dashes}BEGIN PRIVATE KEY{dashes}`, ends with `{dashes}END PRIVATE KEY{dashes}`"));
    stays("| a | b |\n|-----|-----|\n-----BEGIN of a list-----");
}

#[test]
fn passwords_in_urls() {
    becomes("postgres://u:pw@h/db", "postgres://u:[url-password]@h/db");
    becomes(
        "DATABASE=mongodb+srv://app:p%40ss@c0.example.net/?w=1",
        "DATABASE=mongodb+srv://app:[url-password]@c0.example.net/?w=1",
    );
    becomes("redis://:s3cret@localhost:6379", "redis://:[url-password]@localhost:6379");
    becomes("a postgres://u:p@ss@h/db b", "a postgres://u:[url-password]@h/db b");
    becomes(
        &format!("https://x-access-token:{}@github.com/a/b", github()),
        "https://x-access-token:[github-token]@github.com/a/b",
    );
    becomes(&format!("https://{}@github.com/a/b", github()), "https://[github-token]@github.com/a/b");
    becomes(&format!("https://{}:pw@h", github()), "https://[github-token]:[url-password]@h");
    becomes("https:\\/\\/me:hunter2@example.com\\/", "https:\\/\\/me:[url-password]@example.com\\/");
    let hook = format!("https://hooks.{}.com/services/T0000AAAA/B0000BBBB/{}", "slack", random(64, 24));
    becomes(&hook, "https://hooks.slack.com/services/[slack-token]");
    for text in [
        "http://localhost:8080/@vite/client",
        "git@github.com:a/b.git",
        "ssh://git@github.com:22/a/b",
        "https://example.com:443/a?b=c@d",
        "postgres://user:password@host/db",
        "postgres://$USER:$PASSWORD@host/db",
        "postgres://u:${DB_PASSWORD}@h/db",
        "postgres://u:<password>@h/db",
        "https://user:****@example.com",
        "a::b://c",
        "mailto:me@example.com",
        "https://[::1]:80/a@b",
        "npm i @scope/a@1.2.3 http://a b@c",
    ] {
        stays(text);
    }
}
