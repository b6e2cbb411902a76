/**
 * What the environment may say, for people: `.env.example` and the guide are made of this list. That it names exactly what
 * `loadConfig` reads is kept by a test.
 */
export const VARIABLES: readonly Variable[] = [
  {
    name: 'PUBLIC_URL',
    group: 'Address',
    unset: 'http://localhost:$PORT',
    example: 'https://beckon.example',
    about:
      'How others reach it, without a path. An `https://` value turns the TLS rules on: plain requests get 308, and it needs either our own TLS or a proxy in `TRUST_PROXY`.',
  },
  {
    name: 'PORT',
    group: 'Address',
    unset: '8080',
    example: '8080',
    about: 'Where the API and the dashboard listen. `0` takes any free port.',
  },
  {
    name: 'HOST',
    group: 'Address',
    unset: '127.0.0.1',
    example: '0.0.0.0',
    about: 'At which address of this machine. `0.0.0.0` is all of them, as it has to be in a container.',
  },
  {
    name: 'TRUST_PROXY',
    group: 'Address',
    unset: null,
    example: '10.0.0.0/8',
    about:
      "Addresses or CIDR ranges, separated by commas, whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed. They must write `X-Forwarded-Proto` themselves, never pass a caller's on.",
  },
  {
    name: 'TLS_CERT_FILE',
    group: 'Own TLS',
    unset: null,
    example: '/etc/beckon/tls.crt',
    about: 'The certificate and those between it and its root, in PEM. With `TLS_KEY_FILE`.',
  },
  {
    name: 'TLS_KEY_FILE',
    group: 'Own TLS',
    unset: null,
    example: '/etc/beckon/tls.key',
    about: 'Its private key, in PEM.',
  },
  {
    name: 'TLS_CERT_DIR',
    group: 'Own TLS',
    unset: null,
    example: '/etc/beckon/hosts',
    about: 'A directory with `<host>.crt` and `<host>.key` for the hosts that links of sending domains have.',
  },
  {
    name: 'HTTP_REDIRECT_PORT',
    group: 'Own TLS',
    unset: null,
    example: '80',
    about: 'A port for plain HTTP that answers 308.',
  },
  {
    name: 'DATA_DIR',
    group: 'Data',
    unset: './data',
    example: '/var/lib/beckon',
    about: 'The embedded database and the generated secret key.',
  },
  {
    name: 'DATABASE_URL',
    group: 'Data',
    unset: null,
    example: 'postgres://beckon:password@db.internal:5432/beckon',
    secret: true,
    about: 'Your own PostgreSQL, 15 or newer, in place of the embedded one. It needs a `SECRET_KEY`.',
  },
  {
    name: 'ADMIN_DATABASE_URL',
    group: 'Data',
    unset: '$DATABASE_URL',
    example: 'postgres://owner:password@db.internal:5432/beckon',
    secret: true,
    about:
      'Past the pooler, where `DATABASE_URL` leads through one: for migrations, sign-ins, and what workers listen to.',
  },
  {
    name: 'DATABASE_POOLER',
    group: 'Data',
    unset: null,
    example: 'transaction',
    about: '`transaction` behind a pooler in transaction mode. It needs `ADMIN_DATABASE_URL`.',
  },
  {
    name: 'SECRET_KEY',
    group: 'Data',
    unset: 'generated in `DATA_DIR`',
    example: 'the output of: openssl rand -hex 32',
    generate: 'openssl rand -hex 32',
    secret: true,
    about:
      'Peppers the hashes of API keys, seals private keys and the secrets of webhooks, and marks letters. Required with `DATABASE_URL`, the same on every machine; 32 random characters are good.',
  },
  {
    name: 'SECRET_KEY_PREVIOUS',
    group: 'Data',
    unset: null,
    example: 'the one that was in force before',
    secret: true,
    about:
      'The old one, while you change it; on several machines first the new one, everywhere ("A new secret key" in the guide). Without it API keys that were not used since, and links of letters that left before, open nothing any more.',
  },
  {
    name: 'BACKUP_DIR',
    group: 'Data',
    unset: null,
    example: '/var/backups/beckon',
    about:
      'For the embedded database: where `backup` puts its copies, and PostgreSQL a copy of its log as it is written, so that any moment since a backup can be restored. On another disk, best on another machine. With `DATABASE_URL` the closed secret key alone goes there.',
  },
  {
    name: 'BACKUP_PASSPHRASE',
    group: 'Data',
    unset: 'asked for at the terminal',
    example: 'words that nobody guesses',
    generate: 'openssl rand -base64 24',
    secret: true,
    about: 'Closes the secret key in a backup. Keep it apart from the backups; 12 characters or more.',
  },
  {
    name: 'RESTORE_GUARD',
    group: 'Data',
    unset: 'auto',
    example: 'manual',
    about:
      '`auto`: from a database that was restored no letter leaves until `restore confirm`. `manual` where a standby takes over without losing anything: then nobody is asked.',
  },
  {
    name: 'SMTP_URL',
    group: 'Letters',
    unset: null,
    example: 'smtp://user:password@mail.example:587',
    secret: true,
    about:
      'The relay, `smtp://` or `smtps://`. TLS is required unless it is on this machine. It gets 10 connections at most, or as many as `?connections=20` behind it says. Without it letters go into the outbox.',
  },
  {
    name: 'MAIL_FROM',
    group: 'Letters',
    unset: null,
    example: 'beckon@acme.example',
    about: 'Beside `SMTP_URL`: as whom the team is written to.',
  },
  {
    name: 'MAIL_DOMAIN',
    group: 'Letters',
    unset: null,
    example: 'mail.beckon.example',
    about: 'The public name of the host that takes mail in: the records of sending domains are made of it.',
  },
  {
    name: 'SMTP_SPF_INCLUDE',
    group: 'Letters',
    unset: null,
    example: '_spf.relay.example',
    about: 'Beside `SMTP_URL`: what the relay wants in an SPF record.',
  },
  {
    name: 'MAIL_IN_PORT',
    group: 'Letters',
    unset: '2525',
    example: '2525',
    about:
      'Where bounces, answers and unsubscribes by mail come in, by SMTP. Where it is not set and 2525 is taken, the server goes on without, and says so.',
  },
  {
    name: 'MAIL_IN_HOST',
    group: 'Letters',
    unset: '127.0.0.1',
    example: '0.0.0.0',
    about: 'At which address of this machine they do.',
  },
  {
    name: 'DNS_SERVERS',
    group: 'Letters',
    unset: "the system's",
    example: '10.0.0.2, 127.0.0.1:5353',
    about: 'Whom to ask about sending domains: addresses, with ports where they are others than 53.',
  },
  {
    name: 'AI_BASE_URL',
    group: 'A model',
    unset: null,
    example: 'https://models.example/v1',
    about:
      "A model that may word letters, for projects that set `drafting=model`: any endpoint that speaks OpenAI's protocol, or Anthropic's with `#anthropic` behind the address. Without one, and whenever it is late, wrong or away, letters are as their template says. With `AI_API_KEY` and `AI_MODEL`.",
  },
  {
    name: 'AI_API_KEY',
    group: 'A model',
    unset: null,
    example: 'the key that its provider gave you',
    secret: true,
    about: 'Its key.',
  },
  {
    name: 'AI_MODEL',
    group: 'A model',
    unset: null,
    example: 'small-1',
    about: 'Its name.',
  },
  {
    name: 'ROLES',
    group: 'Operation',
    unset: 'all',
    example: 'api,worker',
    about:
      '`api` (answers requests), `worker` (digests them, sends letters and webhooks), `mail-in` (takes mail in), or several with commas between them: what this process does.',
  },
  {
    name: 'API_PROCESSES',
    group: 'Operation',
    unset: '1',
    example: '4',
    about:
      'How many processes answer requests on this machine, 1 to 64; they share `PORT`. With one of each kind everything is one process.',
  },
  {
    name: 'WORKER_PROCESSES',
    group: 'Operation',
    unset: '1',
    example: '2',
    about:
      'How many processes digest and send on this machine, 1 to 64. Each has its own connections to the database.',
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
    about: 'A port of its own for `/metrics`. Without it `/metrics` answers loopback callers on `PORT`.',
  },
  {
    name: 'CLIENT_MINIMUM',
    group: 'Operation',
    unset: null,
    example: 'beckon-client/1.4.0',
    about: 'Clients and versions, separated by commas: older ones are told so in `X-Client-Outdated`.',
  },
  {
    name: 'PROJECTS_PER_ORGANIZATION',
    group: 'Operation',
    unset: '20',
    example: '50',
    about:
      'How many projects an organization may have, 1 to 10000. Suspended projects count; sandboxes and the demo do not. A lower value deletes nothing: it only refuses new projects.',
  },
  {
    name: 'WEBHOOK_ALLOW_PRIVATE',
    group: 'Operation',
    unset: 'false',
    example: 'true',
    about: '`true` is for development: webhooks may go to private addresses, and to plain http there.',
  },
];

export type Variable = {
  name: string;
  group: 'Address' | 'Own TLS' | 'Data' | 'Letters' | 'A model' | 'Operation';
  /** What counts where it is not set; null: nothing. */
  unset: string | null;
  example: string;
  /** Sentences, in Markdown. */
  about: string;
  /** `<name>_FILE` may name a file that holds it instead. */
  secret?: true;
  /** The command that makes a good value. */
  generate?: string;
};
