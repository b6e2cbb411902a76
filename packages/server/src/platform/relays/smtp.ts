import { isIP } from 'node:net';
import type { FieldError, RelayField, RelaySettings } from './adapter.ts';
import type { RelayKindInfo } from './kind-info.ts';

const FIELDS: readonly RelayField[] = [
  { name: 'host', label: 'Host', isSecret: false, hint: 'Such as smtp.example.com' },
  { name: 'port', label: 'Port', isSecret: false, isOptional: true, hint: '587 with STARTTLS, 465 with TLS' },
  {
    name: 'encryption',
    label: 'Encryption',
    isSecret: false,
    values: ['starttls', 'tls', 'none'],
    hint: 'STARTTLS is required unless you choose another value',
  },
  { name: 'username', label: 'User name', isSecret: false, isOptional: true },
  { name: 'password', label: 'Password', isSecret: true, isOptional: true },
  {
    name: 'connections',
    label: 'Connections',
    isSecret: false,
    isOptional: true,
    hint: 'How many emails each worker sends at a time: 1 to 100, by default 10',
  },
  {
    name: 'spf_include',
    label: 'SPF include',
    isSecret: false,
    isOptional: true,
    hint: 'Such as _spf.example.com. The check of a sending domain expects it in SPF.',
  },
];

/** Any relay that accepts emails by SMTP. */
export const SMTP_KIND: RelayKindInfo = {
  kind: 'smtp',
  title: 'SMTP',
  fields: FIELDS,
  checkSettings,
  smtpHost: null,
};

const HOST = /^(?=.{1,253}$)[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/i;
const PORT_MAX = 65_535;
const CONNECTIONS_MAX = 100;

function checkSettings({
  host = '',
  port,
  encryption,
  username,
  password,
  connections,
  spf_include: spfInclude,
}: RelaySettings): FieldError[] {
  const errors = [
    isIP(host) > 0 || HOST.test(host)
      ? null
      : { field: 'host', message: 'Host must be a host name or an IP address, such as smtp.example.com.' },
    port === undefined || isWhole(port, PORT_MAX)
      ? null
      : { field: 'port', message: `Port must be a number from 1 to ${PORT_MAX}.` },
    connections === undefined || isWhole(connections, CONNECTIONS_MAX)
      ? null
      : { field: 'connections', message: `Connections must be a number from 1 to ${CONNECTIONS_MAX}.` },
    checkInclude(spfInclude),
    ...checkSignIn({ username, password, encryption }),
  ];
  return errors.filter((error) => error !== null);
}

type SignIn = Record<'username' | 'password' | 'encryption', string | undefined>;

function checkSignIn({ username, password, encryption }: SignIn): (FieldError | null)[] {
  return [
    password === undefined || username !== undefined
      ? null
      : { field: 'username', message: 'A password requires a user name.' },
    username === undefined || encryption !== 'none'
      ? null
      : { field: 'encryption', message: 'A user name and a password require encryption.' },
  ];
}

/** Names of SPF records have underscores, which names of hosts have not. */
function checkInclude(include: string | undefined): FieldError | null {
  return include === undefined || HOST.test(include.replaceAll('_', 'x'))
    ? null
    : { field: 'spf_include', message: 'SPF include must be a name, such as _spf.example.com.' };
}

function isWhole(text: string, max: number): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= max;
}

/** Returns the address of an SMTP relay in the form of `SMTP_URL`. */
export function smtpUrlOf({
  host = '',
  port,
  encryption,
  username,
  password,
  connections,
}: RelaySettings): string {
  const isTls = encryption === 'tls';
  const user =
    username === undefined ? '' : `${encodeURIComponent(username)}:${encodeURIComponent(password ?? '')}@`;
  const name = isIP(host) === 6 ? `[${host}]` : host;
  const query = new URLSearchParams();
  if (!isTls) query.set('tls', encryption === 'none' ? 'none' : 'required');
  if (connections !== undefined) query.set('connections', connections);
  return `${isTls ? 'smtps' : 'smtp'}://${user}${name}${port === undefined ? '' : `:${port}`}?${query.toString()}`;
}
