/** A text with a secret in it. None is real; they are put together here so that no scanner reports this file. */
export interface SecretSample {
  readonly kind: string;
  readonly text: string;
  readonly secret: string;
}

const alphanumeric = (length: number) => 'aB3dE5gH7jK9mN1pQ2sT4vW6yZ8'.repeat(10).slice(0, length);
const hexadecimal = (length: number) => '0123456789abcdef'.repeat(10).slice(0, length);
const upper = (length: number) => 'A1B2C3D4E5F6G7H8J9'.repeat(5).slice(0, length);

const TOKENS: readonly (readonly [kind: string, ...parts: string[]])[] = [
  ['AWS access key', 'AK', 'IA', upper(16)],
  ['AWS session key', 'AS', 'IA', upper(16)],
  ['GitHub token', 'gh', 'p_', alphanumeric(36)],
  ['GitHub app token', 'gh', 's_', alphanumeric(36)],
  ['GitHub fine-grained token', 'github', '_pat_', alphanumeric(22), '_', alphanumeric(59)],
  ['GitLab token', 'gl', 'pat-', alphanumeric(20)],
  ['Slack bot token', 'xo', 'xb-', '123456789012-', alphanumeric(24)],
  ['Slack app token', 'xa', 'pp-', '1-A1-', alphanumeric(24)],
  ['Slack webhook', 'hooks.slack', '.com/services/T00000000/B00000000/', alphanumeric(24)],
  ['Stripe live key', 'sk', '_live_', alphanumeric(24)],
  ['Stripe restricted key', 'rk', '_test_', alphanumeric(24)],
  ['Stripe webhook secret', 'wh', 'sec_', alphanumeric(32)],
  ['OpenAI key', 'sk', '-', alphanumeric(48)],
  ['OpenAI project key', 'sk', '-proj-', alphanumeric(100)],
  ['Anthropic key', 'sk', '-ant-api03-', alphanumeric(95)],
  ['Google API key', 'AI', 'za', alphanumeric(35)],
  ['Google access token', 'ya', '29.', alphanumeric(60)],
  ['Google client secret', 'GOC', 'SPX-', alphanumeric(28)],
  ['npm token', 'np', 'm_', alphanumeric(36)],
  ['PyPI token', 'py', 'pi-', 'AgEIcHlwaS5vcmc', alphanumeric(60)],
  ['Hugging Face token', 'h', 'f_', alphanumeric(34)],
  ['Groq key', 'gs', 'k_', alphanumeric(52)],
  ['SendGrid key', 'S', 'G.', alphanumeric(22), '.', alphanumeric(43)],
  ['Twilio key', 'S', 'K', hexadecimal(32)],
  ['DigitalOcean token', 'do', 'p_v1_', hexadecimal(64)],
  ['Shopify token', 'sh', 'pat_', hexadecimal(32)],
  ['Docker token', 'dckr', '_pat_', alphanumeric(27)],
  ['Vault token', 'hv', 's.', alphanumeric(90)],
  ['Terraform token', alphanumeric(14), '.atlas', 'v1.', alphanumeric(67)],
  ['Databricks token', 'da', 'pi', hexadecimal(32)],
  ['Linear key', 'lin', '_api_', alphanumeric(40)],
  ['Atlassian token', 'ATA', 'TT', alphanumeric(60)],
  ['Grafana token', 'gl', 'sa_', alphanumeric(32)],
  ['Telegram token', '123456789', ':AA', alphanumeric(33)],
  ['age key', 'AGE-SECRET', '-KEY-1', upper(58)],
  ['JSON Web Token', 'ey', 'J', alphanumeric(17), '.ey', 'J', alphanumeric(30), '.', alphanumeric(43)],
];

const within = (kind: string, before: string, secret: string, after = ''): SecretSample => ({
  kind,
  text: `${before}${secret}${after}`,
  secret,
});

const begin = (name: string) => `-----BEGIN ${name}-----`;
const keyLine = alphanumeric(64);

export const SECRETS: readonly SecretSample[] = [
  ...TOKENS.map(([kind, ...parts]) => within(kind, '', parts.join(''))),
  within('private key', `${begin('RSA PRIVATE KEY')}\n${keyLine}\n`, keyLine, `\n-----END RSA PRIVATE KEY-----`),
  within('private key without an end', `${begin('OPENSSH PRIVATE KEY')}\n`, keyLine),
  within('PGP key', `${begin('PGP PRIVATE KEY BLOCK')}\n\n`, keyLine, '\n-----END PGP PRIVATE KEY BLOCK-----'),
  within('basic auth in a URL', 'https://me:', 'hunter2pass', '@example.org/path'),
  within('token in a URL', 'https://', alphanumeric(40), '@example.org/path'),
  within('PostgreSQL URL', 'postgres://app:', 'pa55w0rd', '@db:5432/app'),
  within('MongoDB URL', 'mongodb+srv://app:', 'pa55w0rd', '@db/app'),
  within('connection string', 'Server=db;User Id=app;Password=', 'pa55w0rd', ';'),
  within('Azure storage', 'AccountName=a;AccountKey=', `${alphanumeric(60)}==`, ';EndpointSuffix=x'),
  within('shared access signature', 'https://a.blob.core.windows.net/c?sv=1&sig=', alphanumeric(43), '%3D'),
  within('bearer header', 'Authorization: Bearer ', alphanumeric(30)),
  within('basic header', 'authorization: basic ', 'dXNlcjpwYXNzd29yZA=='),
  within('password assignment', 'DB_PASSWORD=', 'hunter2'),
  within('quoted password', 'password: "', "it's a long phrase", '"'),
  within('password in YAML', 'password: ', 'correct horse battery staple'),
  within('JSON password', '{"password": "', 'hunter2', '"}'),
  within('AWS secret key', 'aws_secret_access_key = ', `${alphanumeric(38)}/+`),
  within('API key assignment', 'API_KEY=', hexadecimal(32)),
  within('password option', 'mysql --password=', 'hunter2', ' -e "select 1"'),
  within('token option', 'tool --token ', 'hunter2secret'),
  within('curl user', 'curl -u me:', 'hunter2', ' example.org'),
  within('sshpass', 'sshpass -p ', 'hunter2', ' ssh host'),
  within('short password variable', 'DB_PASS=', 'hunter2', ' npm start'),
  within('short password in YAML', 'SMTP_PASS: ', 'hunter2'),
  within('short password in camel case', "smtpPass = '", 'hun ter2', "'"),
  within('short JSON password', '{"user":"me","pass":"', 'hun ter2', '"}'),
  within('short password in an object', "auth: { user: 'me', pass: '", 'hunter2', "' }"),
  within('short password parameter', 'user=me&pass=', 'hunter2'),
  within('short password option', 'tool --pass ', 'hunter2'),
  within('docker login', 'docker login -u me -p ', 'hunter2', ' registry.example'),
  within('docker login, attached', 'docker login registry.example -p', 'hunter2'),
  within('docker configuration', '{"auths":{"host":{"auth": "', 'bWU6aHVudGVyMg==', '"}}}'),
  within('mysql', 'mysql -u root -p', 'hunter2', ' db'),
  within('mysqldump, quoted', "mysqldump -uroot -p'", 'hun ter2', "' db"),
  within('aws configure', 'aws configure set aws_secret_access_key ', 'hunter2', ' --profile me'),
  within('npm config', 'npm config set //registry.example/:_auth ', 'bWU6aHVudGVyMg=='),
  within('npmrc', '//registry.example/:_auth=', 'bWU6aHVudGVyMg=='),
  within('redis-cli', 'redis-cli -h db -a ', 'hunter2', ' ping'),
  within('redis-cli variable', 'REDISCLI_AUTH=', 'hunter2', ' redis-cli ping'),
  within('openssl', 'openssl rsa -in key.pem -passin pass:', 'hunter2', ' -noout'),
  within('openssl, output', 'openssl pkcs12 -passout "pass:', 'hunter2', '"'),
  within('keytool', 'keytool -list -storepass ', 'hunter2'),
  within('curl user, attached', 'curl -ume:', 'hunter2', ' example.org'),
  within('curl user after other options', 'curl -sSu me:', 'hunter2', ' example.org'),
  within('curl user, quoted', "curl -u 'me:", 'hun ter2', "' example.org"),
  within('netrc', 'machine host login me password ', 'hunter2'),
];
