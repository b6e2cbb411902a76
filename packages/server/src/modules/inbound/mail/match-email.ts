import type { MailClassification } from '../classification/classification.ts';
import type { InboundMail } from '../classification/mail.ts';
import { TEST_INBOX_DOMAIN } from '../../delivery/index.ts';
import {
  type EmailName,
  emailToken,
  readEmailToken,
  type TokenKeys,
} from '../../../platform/crypto/email-token.ts';
import { domainPart } from '../../../platform/net/address.ts';
import type { Tx } from '../../../platform/db/statements.ts';

/**
 * A recipient that accepts inbound email. `role`: an address for complaints and stray emails, which does not identify an email. `source`: a
 * reply source of a project, such as a mailbox.
 */
export type InboundRecipient =
  | { use: 'bounce' | 'reply' | 'unsubscribe'; name: EmailName }
  | { use: 'role' | 'source'; name: null };

type RecipientDeps = {
  tokenKeys: TokenKeys;
  /** The domain whose role addresses are accepted; null: only those of the test inbox. */
  mailDomain: string | null;
};

const TOKEN_ADDRESS = /^([bru])\+([a-z2-7.]{1,64})@/i;
const ADDRESS_USES = { b: 'bounce', r: 'reply', u: 'unsubscribe' } as const;
const ROLES = new Set(['fbl', 'abuse', 'postmaster']);

/**
 * Reads a recipient address. The local part is a signed token that identifies the email; the domain may be any that points here. Returns
 * null for all other addresses, which are refused before the email is read.
 */
export function readRecipient(
  address: string,
  { tokenKeys, mailDomain }: RecipientDeps,
): InboundRecipient | null {
  const [, kind, token] = TOKEN_ADDRESS.exec(address) ?? [];
  if (kind !== undefined && token !== undefined) {
    const use = ADDRESS_USES[kind.toLowerCase() as keyof typeof ADDRESS_USES];
    const name = readEmailToken(token, use, tokenKeys);
    return name && { use, name };
  }
  const local = localPart(address).toLowerCase();
  const isOurs = domainPart(address) === (mailDomain ?? TEST_INBOX_DOMAIN).toLowerCase();
  return isOurs && ROLES.has(local) ? { use: 'role', name: null } : null;
}

function localPart(address: string): string {
  return address.slice(0, Math.max(address.lastIndexOf('@'), 0));
}

const RECIPIENTS_MAX = 5;

/**
 * Returns the recipients of an email that arrived at a reply source. A token in one of its addresses names an email of the project, also
 * behind another name (`replies+<token>@acme.com`). Without one, the headers may name it.
 */
export function readSourceRecipients(
  addresses: readonly string[],
  projectId: number,
  deps: RecipientDeps,
): InboundRecipient[] {
  const named = addresses.flatMap((address) => {
    const recipient = readRecipient(address, deps) ?? readTagged(address, deps.tokenKeys);
    return recipient !== null && recipient.name?.projectId === projectId ? [recipient] : [];
  });
  const distinct = new Map(named.map((found) => [`${found.use} ${found.name?.emailId ?? ''}`, found]));
  return distinct.size === 0
    ? [{ use: 'source', name: null }]
    : [...distinct.values()].slice(0, RECIPIENTS_MAX);
}

function readTagged(address: string, tokenKeys: TokenKeys): InboundRecipient | null {
  const local = localPart(address);
  const name = readEmailToken(local.slice(local.lastIndexOf('+') + 1), 'reply', tokenKeys);
  return name && { use: 'reply', name };
}

/** The address that a mailbox forwards to, for a reply source of the kind `forwarding`. Its token names the source in place of an email. */
export function forwardingAddress(source: EmailName, mailDomain: string, tokenKeys: TokenKeys): string {
  return `f+${emailToken(source, 'source', tokenKeys)}@${mailDomain}`;
}

/** Returns the reply source that an address belongs to. Null for any other address. */
export function readForwardingAddress(address: string, tokenKeys: TokenKeys): EmailName | null {
  const [, token] = /^f\+([^@]{1,64})@/i.exec(address) ?? [];
  return token === undefined ? null : readEmailToken(token, 'source', tokenKeys);
}

/**
 * The email that an inbound email refers to, and by what: a signed token for a purpose, or the Message-ID. Everyone who saw the email knows
 * its Message-ID.
 */
export type InboundReference =
  | { by: 'bounce' | 'reply' | 'unsubscribe'; name: EmailName }
  | { by: 'message_id'; emailId: string };

type ClassifiedMail = { mail: InboundMail; classification: MailClassification };

const UUID = /<([\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12})@/i;
const TOKEN = /(?:\/u\/|\b([bru])\+)([a-z2-7]{34}\.[a-z2-7]{16})/gi;
/** Headers of a returned email that contain a signed token. */
const TOKEN_FIELDS = new Set(['return-path', 'list-unsubscribe', 'reply-to', 'x-envelope-from']);
const TOKENS_MAX = 20;

/** Returns the strongest claim; null if the inbound email names none of our emails. */
export function claimOf(
  recipient: InboundRecipient,
  read: ClassifiedMail,
  tokenKeys: TokenKeys,
): InboundReference | null {
  if (recipient.name !== null) return { by: recipient.use, name: recipient.name };
  return envelopeClaim(read, tokenKeys) ?? returnedClaim(read, tokenKeys) ?? messageIdClaim(read);
}

function envelopeClaim(
  { classification: { envelopeId } }: ClassifiedMail,
  tokenKeys: TokenKeys,
): InboundReference | null {
  const name = envelopeId === null ? null : readEmailToken(envelopeId, 'bounce', tokenKeys);
  return name && { by: 'bounce', name };
}

const USES = { b: 'bounce', r: 'reply', u: 'unsubscribe' } as const;

function returnedClaim(
  { classification: { originalHeaders } }: ClassifiedMail,
  tokenKeys: TokenKeys,
): InboundReference | null {
  const text = originalHeaders
    .filter(({ name }) => TOKEN_FIELDS.has(name))
    .map(({ value }) => value)
    .join('\n');
  const claims = [...text.matchAll(TOKEN)].slice(0, TOKENS_MAX).flatMap(([, kind = 'u', token = '']) => {
    const by = USES[kind.toLowerCase() as keyof typeof USES];
    const name = readEmailToken(token, by, tokenKeys);
    return name ? [{ by, name }] : [];
  });
  return claims.find(({ by }) => by === 'bounce') ?? claims[0] ?? null;
}

function messageIdClaim({
  mail,
  classification: { originalMessageId },
}: ClassifiedMail): InboundReference | null {
  for (const id of [originalMessageId ?? '', ...mail.inReplyTo, ...mail.references.toReversed()]) {
    const [, emailId] = UUID.exec(id) ?? [];
    if (emailId !== undefined) return { by: 'message_id', emailId: emailId.toLowerCase() };
  }
  return null;
}

/**
 * Returns the project of an email, given only the id in one of our Message-IDs. It reads one index per project. No two projects have the
 * same id. Reads tables of the modules sending and administration.
 */
export async function findProjectOfEmail(tx: Tx, emailId: string): Promise<number | undefined> {
  const [row] = await tx.query<{ project_id: number }>(
    `SELECT m.project_id FROM beckon.project p
     CROSS JOIN LATERAL (SELECT project_id FROM beckon.email WHERE project_id = p.project_id AND id = $1 LIMIT 1) m
     LIMIT 1`,
    [emailId],
  );
  return row?.project_id;
}

const RELAY_IDS_MAX = 100;

/**
 * Returns the email that a reply refers to by an id of its provider. Some providers, such as Amazon SES, replace our Message-ID by one that
 * contains their own id. Reads `email`.
 */
export async function findEmailByReference(
  tx: Tx,
  projectId: number,
  { inReplyTo, references }: Pick<InboundMail, 'inReplyTo' | 'references'>,
): Promise<string | undefined> {
  const ids = [...inReplyTo, ...references.toReversed()].map((id) => id.slice(1, -1));
  const relayIds = [...new Set(ids.flatMap((id) => [id, localPart(id)]))].filter((id) => id !== '');
  if (relayIds.length === 0) return undefined;
  const [row] = await tx.query<{ id: string }>(
    `SELECT id FROM beckon.email WHERE project_id = $1 AND relay IS NOT NULL AND relay_id = ANY ($2::text[])
     ORDER BY id DESC LIMIT 1`,
    [projectId, relayIds.slice(0, RELAY_IDS_MAX).map((id) => id.replaceAll('\0', ''))],
  );
  return row?.id;
}
