import { isIP } from 'node:net';
import type { FieldError, RelayField, RelaySettings } from '../../../platform/relays/adapter.ts';
import type { ImapAddress } from '../../../platform/imap/connect.ts';
import type { ReplySourceKind } from './source.ts';

export type ReplySourceKindInfo = {
  kind: ReplySourceKind;
  title: string;
  fields: readonly RelayField[];
  checkSettings?: (settings: RelaySettings) => FieldError[];
};

/** Beckon generates it. The service sends it as the password of HTTP basic authentication. */
export const SOURCE_SECRET = 'hook_secret';

const IMAP_FIELDS: readonly RelayField[] = [
  { name: 'host', label: 'Host', isSecret: false, hint: 'Such as imap.example.com' },
  {
    name: 'port',
    label: 'Port',
    isSecret: false,
    isOptional: true,
    hint: 'By default 993 with TLS, and 143 with STARTTLS',
  },
  { name: 'encryption', label: 'Encryption', isSecret: false, values: ['tls', 'starttls'] },
  { name: 'username', label: 'User name', isSecret: false, hint: 'Often the email address' },
  {
    name: 'password',
    label: 'Password',
    isSecret: true,
    hint: 'Gmail and iCloud require an app password. Microsoft 365 accepts no passwords.',
  },
  { name: 'folder', label: 'Folder', isSecret: false, isOptional: true, hint: 'By default INBOX' },
];

/** In the order in which the dashboard and the command line offer them. */
export const REPLY_SOURCE_KINDS: readonly ReplySourceKindInfo[] = [
  { kind: 'imap', title: 'IMAP mailbox', fields: IMAP_FIELDS, checkSettings: checkImap },
  { kind: 'postmark', title: 'Postmark inbound webhook', fields: [] },
  { kind: 'http', title: 'Raw emails by HTTP', fields: [] },
  { kind: 'forwarding', title: 'Forwarding to the SMTP listener', fields: [] },
];

const HOST = /^(?=.{1,253}$)[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/i;
const PORT_MAX = 65_535;
const FOLDER_MAX_CHARS = 200;

function checkImap({ host = '', port, folder = '' }: RelaySettings): FieldError[] {
  return [
    isIP(host) > 0 || HOST.test(host)
      ? null
      : { field: 'host', message: 'Host must be a host name or an IP address, such as imap.example.com.' },
    port === undefined || (/^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= PORT_MAX)
      ? null
      : { field: 'port', message: `Port must be a number from 1 to ${PORT_MAX}.` },
    /^[\x20-\x7e]*$/.test(folder) && folder.length <= FOLDER_MAX_CHARS
      ? null
      : {
          field: 'folder',
          message: `Folder must have at most ${FOLDER_MAX_CHARS} characters, all of them ASCII.`,
        },
  ].filter((error) => error !== null);
}

export function imapAddressOf({ host = '', port, encryption }: RelaySettings): ImapAddress {
  const isTls = encryption !== 'starttls';
  return {
    host,
    port: port === undefined ? (isTls ? 993 : 143) : Number(port),
    encryption: isTls ? 'tls' : 'starttls',
  };
}

export function folderOf({ folder }: RelaySettings): string {
  return folder ?? 'INBOX';
}

/** A stored password is sent to no other server, and not for another user. */
export function isSameAccount(before: RelaySettings, after: RelaySettings): boolean {
  return before['host'] === after['host']?.trim() && before['username'] === after['username']?.trim();
}

/** The settings that identify a folder. If one of them changes, its UIDs mean other emails. */
const IDENTITY = ['host', 'port', 'username', 'folder'];

export function isSameFolder(before: RelaySettings, after: RelaySettings): boolean {
  return IDENTITY.every((name) => before[name] === after[name]);
}
