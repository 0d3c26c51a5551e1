//! Values of names that speak of secrets, in the ways that shells, files and code write them.

use crate::planted::*;

#[test]
fn in_a_shell() {
    becomes("PASSWORD=x y", "PASSWORD=[password] y");
    becomes("PASSWORD=secret DB_PASSWORD=password y", "PASSWORD=[password] DB_PASSWORD=[password] y");
    becomes("$ PASSWORD=hunter2 make deploy", "$ PASSWORD=[password] make deploy");
    becomes("export DB_PASSWORD='two words' && run", "export DB_PASSWORD='[password]' && run");
    becomes("DB_PASSWORD=\"two \\\"words\\\"\" run", "DB_PASSWORD=\"[password]\" run");
    becomes("PGPASSWORD=a\\ b psql", "PGPASSWORD=[password] psql");
    becomes("MYSQL_ROOT_PASSWORD=hunter2;echo", "MYSQL_ROOT_PASSWORD=[password];echo");
    becomes("env API_KEY=abcdef123 TOKEN2=zyx987 run", "env API_KEY=[api-key] TOKEN2=[token] run");
    becomes("$env:CLIENT_SECRET = \"abc123\"", "$env:CLIENT_SECRET = \"[secret]\"");
    becomes("echo \"PASSWORD=hunter2\\nOTHER=1\"", "echo \"PASSWORD=[password]\\nOTHER=1\"");
    becomes("{\"cmd\":\"PASSWORD=hunter2 ./x\"}", "{\"cmd\":\"PASSWORD=[password] ./x\"}");
    becomes("{\\\"cmd\\\":\\\"PASSWORD=hunter2\\\"}", "{\\\"cmd\\\":\\\"PASSWORD=[password]\\\"}");
}

#[test]
fn as_options() {
    becomes("login --token abc123def", "login --token [token]");
    becomes("login --password secret", "login --password [password]");
    becomes("login --password=hunter2 --user me", "login --password=[password] --user me");
    becomes("login --api-key 'abc123def'", "login --api-key '[api-key]'");
    becomes("login --client-secret \\\n  abc123def", "login --client-secret \\\n  [secret]");
    becomes("\"args\": [\"--token\", \"abc123def\"]", "\"args\": [\"--token\", \"[token]\"]");
    for text in [
        "pass `--token` or `--password` to it",
        "the --password option is required",
        "use --token to log in",
        "--token $TOKEN",
        "--token=${TOKEN}",
        "--password-stdin",
        "--token-file /run/token",
        "--max-tokens 4096",
        "--password <password>",
        "--api-key YOUR_API_KEY",
        "--token",
        "--no-password --token",
    ] {
        stays(text);
    }
}

#[test]
fn in_json_as_text() {
    becomes("{\"password\": \"hunter2\"}", "{\"password\": \"[password]\"}");
    becomes("{\"password\":\"two words\",\"a\":1}", "{\"password\":\"[password]\",\"a\":1}");
    becomes("{\\\"apiKey\\\":\\\"abc123def\\\"}", "{\\\"apiKey\\\":\\\"[api-key]\\\"}");
    becomes("{\\\\\\\"secret\\\\\\\": \\\\\\\"abc123\\\\\\\"}", "{\\\\\\\"secret\\\\\\\": \\\\\\\"[secret]\\\\\\\"}");
    becomes("\"client_secret\": \"ab\\\"cd\"", "\"client_secret\": \"[secret]\"");
}

#[test]
fn in_yaml() {
    becomes("api_key: abc123def456", "api_key: [api-key]");
    becomes(
        "db:\n  user: me\n  password: correcthorse\n  port: 1\n",
        "db:\n  user: me\n  password: [password]\n  port: 1\n",
    );
    becomes("- password: hunter2 # old", "- password: [password] # old");
    becomes("  secret: 's3cr3t'\n", "  secret: '[secret]'\n");
    becomes("password: 12345678\n", "password: [password]\n");
}

#[test]
fn in_code_and_configuration() {
    becomes("const API_KEY: &str = \"abc123def456\";", "const API_KEY: &str = \"[api-key]\";");
    becomes("let authToken = 'abc123def456';", "let authToken = '[token]';");
    becomes("config['password'] = \"hunter2\"", "config['password'] = \"[password]\"");
    becomes(":password => 'hunter2',", ":password => '[password]',");
    becomes("password := `hunter2`", "password := `[password]`");
    becomes("Server=db;User Id=sa;Password=hunter2;", "Server=db;User Id=sa;Password=[password];");
    becomes("spring.datasource.password=hunter2\n", "spring.datasource.password=[password]\n");
    becomes("https://a.example/cb?access_token=abc123def&x=1", "https://a.example/cb?access_token=[token]&x=1");
    becomes("//registry.npmjs.org/:_authToken=abc123def", "//registry.npmjs.org/:_authToken=[token]");
    becomes("Your API key: abc123def456ghi", "Your API key: [api-key]");
    becomes("Password: hunter2", "Password: [password]");
    becomes("**Password:** `hunter2`", "**Password:** `[password]`");
    becomes("X-Api-Key: abc123def456", "X-Api-Key: [api-key]");
}

#[test]
fn what_is_no_value() {
    for text in [
        "password: ",
        "Password:",
        "Enter password: \n",
        "password:\n  min: 8",
        "PASSWORD=",
        "PASSWORD= x",
        "PASSWORD=\"\"",
        "PASSWORD=$PASSWORD",
        "TOKEN=${TOKEN:-}",
        "TOKEN=$(cat token)",
        "TOKEN=`cat token`",
        "API_KEY=<your-key>",
        "API_KEY=your-api-key",
        "API_KEY=xxxx",
        "API_KEY=****",
        "password: %PASSWORD%",
        "token: {{ token }}",
        "password: string;",
        "password: String,",
        "password?: string",
        "password: Option<String>,",
        "token: &str",
        "password = None",
        "password=password,",
        "login(password=user_password)",
        "token = self.next_token()",
        "token: config.token,",
        "const token = getToken();",
        "let token = process.env.TOKEN;",
        "api_key = os.environ[\"API_KEY\"]",
        "password: \"Enter your password\"",
        "password: required",
        "\"password\": \"Password\"",
        "\"input_tokens\":1234",
        "max_tokens: 4096",
        "token_count = 12",
        "\"max_output_tokens\": 8192",
        "token: 17",
        "next_page_token: abc123def456",
        "secret_name: db-main",
        "key: value1",
        "primaryKey: id2",
        "\"key\": \"abc12345\"",
        "PWD=/home/me OLDPWD=/tmp",
        "PASSWORD_FILE=/run/secrets/db",
        "type=\"password\"",
        "name: \"token\"",
        "SECRET_KEY=/run/secrets/key",
        "password_reset_url: https://a.example/1",
        "The token is used once.",
        "if token == null {",
        "token ::= word",
        "Token::Ident(a1b2)",
        "secret: !Ref Secret1",
    ] {
        stays(text);
    }
}

#[test]
fn code_that_reads_or_declares_a_value() {
    for text in [
        "pub eq_token: Token![=],",
        "let if_token: Token![if] = input.parse()?;",
        "or2_token: node.or2_token,",
        "pub Password: super::super::Win32::Foundation::UNICODE_STRING,",
        "pub const TOKEN: &str = \"$serde_json::private::Number\";",
        "pub Token: D3DKMT_PRESENTHISTORYTOKEN_0,",
        "my $token = $parser->get_token;",
        "self._signing_key = key[:16]",
        "var firstToken = this.tokens[startPosition];",
        "password: typing.Optional[bytes]",
        "private_key: ed25519.Ed25519PrivateKey, f: int",
        "this.authorization = !req.headers.authorization;",
        "i=tokenStartI=i+1;",
        "Token: '#d0d0d0',",
        "user_pass = '%s:%s' % (user, password)",
        "'EndToken' => 'https://example.com/issues/12',",
        "see Bearer https://example.com/rfc6750 for it",
        "Some((Token::SFIXED64, span)) => span,",
        "Flags: PrivateKey = 983040i32, DB_PASS = 0x030,",
        "PASSWORD_OID: &str = \"2.5.4.35\";",
        "authorization = base64.decodebytes(authorization).x",
        "pub log_passwd: __u32,",
        "#password_encryption = scram-sha-256",
    ] {
        stays(text);
    }
}
