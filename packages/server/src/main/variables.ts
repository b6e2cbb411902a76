/**
 * Environment variables with their documentation. `.env.example` and the settings page are generated from this list, and a
 * test compares it with what `loadConfig` reads.
 */
export const VARIABLES: readonly Variable[] = [
  {
    name: 'PUBLIC_URL',
    group: 'Address',
    unset: 'http://localhost:$PORT',
    example: 'https://beckon.example',
    about:
      'The public address of the server, without a path. An `https://` value turns on the TLS rules: plain HTTP requests get 308, and the server needs its own TLS or a proxy in `TRUST_PROXY`.',
  },
  {
    name: 'PORT',
    group: 'Address',
    unset: '8080',
    example: '8080',
    about: 'The port of the API and the dashboard. `0` uses any free port.',
  },
  {
    name: 'HOST',
    group: 'Address',
    unset: '127.0.0.1',
    example: '0.0.0.0',
    about: 'The address of this machine to listen on. `0.0.0.0` is all of them, as needed in a container.',
  },
  {
    name: 'TRUST_PROXY',
    group: 'Address',
    unset: null,
    example: '10.0.0.0/8',
    about:
      "Addresses or CIDR ranges, separated by commas, whose `X-Forwarded-For` and `X-Forwarded-Proto` are trusted. These proxies must set `X-Forwarded-Proto` themselves and never forward a client's value.",
  },
  {
    name: 'TLS_CERT_FILE',
    group: 'TLS',
    unset: null,
    example: '/etc/beckon/tls.crt',
    about: 'The certificate and its intermediates, in PEM. Needs `TLS_KEY_FILE`.',
  },
  {
    name: 'TLS_KEY_FILE',
    group: 'TLS',
    unset: null,
    example: '/etc/beckon/tls.key',
    about: 'The private key of the certificate, in PEM.',
  },
  {
    name: 'TLS_CERT_DIR',
    group: 'TLS',
    unset: null,
    example: '/etc/beckon/hosts',
    about: 'A directory with `<host>.crt` and `<host>.key` for the tracking hosts of sending domains.',
  },
  {
    name: 'HTTP_REDIRECT_PORT',
    group: 'TLS',
    unset: null,
    example: '80',
    about: 'A port for plain HTTP that responds with 308.',
  },
  {
    name: 'DATA_DIR',
    group: 'Data',
    unset: './data',
    example: '/var/lib/beckon',
    about: 'The folder of the embedded database and the generated secret key.',
  },
  {
    name: 'DATABASE_URL',
    group: 'Data',
    unset: null,
    example: 'postgres://beckon:password@db.internal:5432/beckon',
    secret: true,
    about: 'Your own PostgreSQL, 15 or newer, instead of the embedded one. Needs `SECRET_KEY`.',
  },
  {
    name: 'ADMIN_DATABASE_URL',
    group: 'Data',
    unset: '$DATABASE_URL',
    example: 'postgres://owner:password@db.internal:5432/beckon',
    secret: true,
    about:
      'The direct address of the database if `DATABASE_URL` leads through a pooler. Migrations, sign-ins and the listeners of workers use it.',
  },
  {
    name: 'DATABASE_POOLER',
    group: 'Data',
    unset: null,
    example: 'transaction',
    about: '`transaction` for a pooler in transaction mode. Needs `ADMIN_DATABASE_URL`.',
  },
  {
    name: 'SECRET_KEY',
    group: 'Data',
    unset: 'generated in `DATA_DIR`',
    example: 'the output of: openssl rand -hex 32',
    generate: 'openssl rand -hex 32',
    secret: true,
    about:
      'Peppers the hashes of API keys, encrypts private keys and webhook secrets, and signs tokens in emails. Required with `DATABASE_URL`, and the same on every machine. Use 32 random characters.',
  },
  {
    name: 'SECRET_KEY_PREVIOUS',
    group: 'Data',
    unset: null,
    example: 'the previous key',
    secret: true,
    about:
      'The old key during a change. With several machines, first the new one on every machine (see "Change the secret key" in the guide). Without it, API keys that were not used since and links in earlier emails stop working.',
  },
  {
    name: 'BACKUP_DIR',
    group: 'Data',
    unset: null,
    example: '/var/backups/beckon',
    about:
      'For the embedded database: the folder for `beckon-server backup` and for a continuous copy of the write-ahead log (WAL). Both together restore any moment since a backup. Use another disk, preferably on another machine. With `DATABASE_URL`, it contains only the encrypted secret key.',
  },
  {
    name: 'BACKUP_PASSPHRASE',
    group: 'Data',
    unset: 'prompted at the terminal',
    example: 'a long random passphrase',
    generate: 'openssl rand -base64 24',
    secret: true,
    about:
      'Encrypts the secret key in a backup. Keep it apart from the backups, with at least 12 characters.',
  },
  {
    name: 'RESTORE_GUARD',
    group: 'Data',
    unset: 'auto',
    example: 'manual',
    about:
      '`auto`: a restored database sends no email until `beckon-server confirm-restore`. `manual`: for a standby that takes over without data loss, where no confirmation is needed.',
  },
  {
    name: 'SMTP_URL',
    group: 'Email',
    unset: null,
    example: 'smtp://user:password@mail.example:587',
    secret: true,
    about:
      'The relay, `smtp://` or `smtps://`. TLS is required unless the relay is on this machine. It gets at most 10 connections, or as many as in `?connections=20` after it. Without a relay, emails go to the test inbox.',
  },
  {
    name: 'MAIL_FROM',
    group: 'Email',
    unset: null,
    example: 'beckon@acme.example',
    about: 'With `SMTP_URL`: the sender of emails to your team.',
  },
  {
    name: 'MAIL_DOMAIN',
    group: 'Email',
    unset: null,
    example: 'mail.beckon.example',
    about: 'The public name of the host that receives email. The DNS records of sending domains contain it.',
  },
  {
    name: 'SMTP_SPF_INCLUDE',
    group: 'Email',
    unset: null,
    example: '_spf.relay.example',
    about:
      'With `SMTP_URL`: the SPF include that the relay requires. It is not needed for the host of a known provider, whose include is used.',
  },
  {
    name: 'MAIL_IN_PORT',
    group: 'Email',
    unset: '2525',
    example: '2525',
    about:
      'The SMTP port for bounces, replies and mailto unsubscribes. If it is not set and 2525 is in use, the server starts without it and says so.',
  },
  {
    name: 'MAIL_IN_HOST',
    group: 'Email',
    unset: '127.0.0.1',
    example: '0.0.0.0',
    about: 'The address of this machine for `MAIL_IN_PORT`.',
  },
  {
    name: 'DNS_SERVERS',
    group: 'Email',
    unset: "the system's",
    example: '10.0.0.2, 127.0.0.1:5353',
    about: 'The name servers for checks of sending domains: addresses, with ports other than 53.',
  },
  {
    name: 'AI_BASE_URL',
    group: 'AI drafting',
    unset: null,
    example: 'https://models.example/v1',
    about:
      "A model for AI drafting, for projects with `drafting=model`. Any OpenAI-compatible endpoint, or Anthropic's with `#anthropic` after the address. Without a model, and whenever it is late, wrong or unavailable, drafts keep the text of their template. Needs `AI_API_KEY` and `AI_MODEL`.",
  },
  {
    name: 'AI_API_KEY',
    group: 'AI drafting',
    unset: null,
    example: 'the key from the provider',
    secret: true,
    about: 'The API key of the model.',
  },
  {
    name: 'AI_MODEL',
    group: 'AI drafting',
    unset: null,
    example: 'small-1',
    about: 'The name of the model.',
  },
  {
    name: 'ROLES',
    group: 'Operation',
    unset: 'all',
    example: 'api,worker',
    about:
      'The work of this process, separated by commas: `api` (responds to requests), `worker` (processes records, sends emails and webhooks), `mail-in` (receives email).',
  },
  {
    name: 'API_PROCESSES',
    group: 'Operation',
    unset: '1',
    example: '4',
    about:
      'The number of API processes on this machine, 1 to 64, which share `PORT`. With one of each kind, everything is one process.',
  },
  {
    name: 'WORKER_PROCESSES',
    group: 'Operation',
    unset: '1',
    example: '2',
    about: 'The number of worker processes on this machine, 1 to 64. Each has its own database connections.',
  },
  {
    name: 'LOG_LEVEL',
    group: 'Operation',
    unset: 'info',
    example: 'warn',
    about: '`debug`, `info`, `warn`, `error` or `silent`.',
  },
  {
    name: 'METRICS_PORT',
    group: 'Operation',
    unset: null,
    example: '9090',
    about: 'A separate port for `/metrics`. Without it, `/metrics` responds to loopback clients on `PORT`.',
  },
  {
    name: 'LOCAL_SHELL',
    group: 'Operation',
    unset: 'on',
    example: 'off',
    about:
      'With `on`, the `beckon` command works on this machine without a login, for the account that runs the server. It uses a socket in `DATA_DIR`. With `off`, there is no socket, and every caller needs a token.',
  },
  {
    name: 'CLIENT_MINIMUM',
    group: 'Operation',
    unset: null,
    example: 'beckon-client/1.4.0',
    about:
      'Clients with their oldest supported version, separated by commas. Older ones get the header `X-Client-Outdated`.',
  },
  {
    name: 'PROJECTS_PER_ORGANIZATION',
    group: 'Operation',
    unset: '20',
    example: '50',
    about:
      'The maximum number of projects of an organization, 1 to 10000. Suspended projects count; sandboxes and the demo do not. A lower value deletes nothing and only rejects new projects.',
  },
  {
    name: 'WEBHOOK_ALLOW_PRIVATE',
    group: 'Operation',
    unset: 'false',
    example: 'true',
    about:
      '`true`, for development only: webhooks and the relays of projects may have private addresses, and webhooks may use plain http there.',
  },
];

export type Variable = {
  name: string;
  group: 'Address' | 'TLS' | 'Data' | 'Email' | 'AI drafting' | 'Operation';
  /** The default; null if there is no default. */
  unset: string | null;
  example: string;
  /** Sentences, in Markdown. */
  about: string;
  /** `<name>_FILE` may name a file with the value. */
  secret?: true;
  /** A command that creates a good value. */
  generate?: string;
};
