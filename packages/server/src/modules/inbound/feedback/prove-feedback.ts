import type { Encrypter } from '../../../platform/crypto/encrypt.ts';
import { emailToken, type TokenKeys } from '../../../platform/crypto/email-token.ts';
import type { Database } from '../../../platform/db/database.ts';
import { Fault } from '../../../platform/fault.ts';
import type { NewId } from '../../../platform/ids.ts';
import { readProjectLock } from '../../../platform/locks/project-lock.ts';
import { composeMail } from '../../../platform/mail/compose.ts';
import { wireAddress } from '../../../platform/mail/outgoing-email.ts';
import { failureText, type SendResult } from '../../../platform/mail/send-result.ts';
import { domainPart } from '../../../platform/net/address.ts';
import type { Outbound } from '../../../platform/outbound/outbound.ts';
import type { RelayAdapter } from '../../../platform/relays/adapter.ts';
import type { RelayKinds } from '../../../platform/relays/kinds.ts';
import type { Reporter } from '../../../platform/relays/reporter.ts';
import {
  type CopyRelays,
  findSender,
  markEmail,
  type SendServices,
  submitCopy,
} from '../../delivery/index.ts';
import { loadProjectModels } from '../../rules/index.ts';
import { type ConfiguredRelay, readRelaySettings } from '../../sending/index.ts';

export type ProofDeps = {
  db: Database;
  newId: NewId;
  encrypter: Encrypter;
  tokenKeys: TokenKeys;
  sendServices: SendServices;
  kinds: RelayKinds;
  /** Opened for one email. */
  openOutbound: () => Outbound;
} & CopyRelays;

export type ProofInput = {
  projectId: number;
  relay: ConfiguredRelay;
  /** An address that does not exist. Null: the one for which the provider simulates a bounce. */
  address: string | null;
};

/**
 * Sends an email that bounces, from the sender of the project. The feedback of the relay is proven when the bounce comes back. The token of
 * this email names the relay in place of an email, so the bounce suppresses no address.
 */
export async function proveFeedback(deps: ProofDeps, input: ProofInput): Promise<{ to: string }> {
  const { relay, projectId } = input;
  const { db, newId } = deps;
  const reporter = await requireReporter(deps, relay);
  const to = recipientOf(reporter.adapter, input.address);
  const from = await senderOf(deps, projectId);
  const messageId = `${newId()}@${domainPart(from.address)}`;
  const mime = await composeMail(
    { ...TEXT, messageId, date: new Date(db.clock.now()), from, to: { name: '', address: to } },
    null,
  );
  const proof = { mailFrom: from.address, rcptTo: to, mime };
  const isHttp = deps.kinds.adapterOf(relay.kind) !== undefined;
  requireSent(await (isHttp ? submitByApi : submitBySmtp)(deps, { relay, reporter, proof }));
  return { to };
}

type Proof = {
  relay: ConfiguredRelay;
  reporter: Reporter;
  proof: { mailFrom: string; rcptTo: string; mime: Uint8Array };
};

async function submitByApi(deps: ProofDeps, { relay, reporter, proof }: Proof): Promise<SendResult> {
  const { db, tokenKeys, newId } = deps;
  const { projectId, id } = relay;
  const token = emailToken({ projectId, emailId: id }, 'relay', tokenKeys);
  const outbound = deps.openOutbound();
  try {
    const context = { settings: reporter.settings, outbound, key: id, now: () => db.clock.now() };
    const { result } = await reporter.adapter.send({ ...proof, token, idempotencyKey: newId() }, context);
    return result;
  } finally {
    outbound.close();
  }
}

/** Sends the email as all others are sent. The header fields of the provider name the relay in place of an email. */
function submitBySmtp(deps: ProofDeps, { relay, reporter, proof }: Proof): Promise<SendResult> {
  const { projectId, id, kind, generation } = relay;
  const name = { projectId, emailId: id };
  const email = { ...name, draftId: id, userId: '', address: proof.rcptTo, content: NO_CONTENT, ...proof };
  if (kind !== 'smtp_url')
    return submitCopy(deps, { relay: { projectId, id, kind, generation, connections: null } }, email);
  const mime = markEmail(reporter, { ...name, mime: proof.mime }, deps.tokenKeys);
  return submitCopy(deps, { relay: null }, { ...email, mime });
}

const TEXT = {
  replyTo: null,
  subject: 'Beckon feedback test',
  text: 'Beckon sent this email to an address that does not exist. Its bounce proves that outcomes are reported.\n',
  html: '<p>Beckon sent this email to an address that does not exist. Its bounce proves that outcomes are reported.</p>',
  headers: [{ name: 'Auto-Submitted', value: 'auto-generated' }],
};

/** The transports use the composed email. */
const NO_CONTENT = { subject: TEXT.subject, preheader: '', body: '', format: 'markdown' } as const;

type ReporterDeps = Pick<ProofDeps, 'db' | 'encrypter' | 'kinds'>;

/** Returns the provider that reports the outcomes of a relay. */
export async function requireReporter(deps: ReporterDeps, relay: ConfiguredRelay): Promise<Reporter> {
  const settings = await readRelaySettings(deps, relay);
  if (settings === null) throw conflict('The relay was deleted', 'relay');
  const reporter = deps.kinds.reporterOf(relay.kind, settings);
  if (reporter) return reporter;
  throw relay.kind === 'smtp_url'
    ? conflict('SMTP_URL names another provider now. Delete this feedback and add it again', 'relay')
    : conflict(
        'The host of this relay belongs to no known provider, so it reports bounces by email',
        'relay',
      );
}

function recipientOf({ simulator, title }: RelayAdapter, address: string | null): string {
  if (address === null && simulator) return simulator.bounce;
  if (address === null)
    throw invalid(`${title} simulates no bounce. Enter an address at your own domain that does not exist`);
  const wire = wireAddress(address);
  if (wire === null) throw invalid('Enter an address such as unused@example.com');
  return wire;
}

async function senderOf(
  { db, sendServices }: ProofDeps,
  projectId: number,
): Promise<{ name: string; address: string }> {
  const now = db.clock.now();
  const model = (await loadProjectModels(db, [await readProjectLock(db, projectId)], { now })).get(projectId);
  if (!model) throw new Error(`project ${projectId} has no settings`);
  const { name, address, gate, isInside, outlet } = await findSender(db, model, sendServices);
  if (isInside) throw conflict('A demo or sandbox project sends no email', 'project');
  if (outlet.kind === 'test_inbox')
    throw conflict('Use the relay for this project or one of its domains first', 'relay');
  // The email has no links, so the address of this installation need not be public.
  if (gate !== 'pass' && gate.reason !== 'public_url')
    throw conflict(`Sending is not possible yet: ${gate.detail}`, 'project');
  return { name, address };
}

function requireSent(result: SendResult): void {
  if (result.result === 'sent') return;
  throw conflict(`The relay did not accept the email: ${failureText(result)}`, 'relay');
}

function invalid(message: string): Fault {
  return new Fault('validation_failed', { details: [{ message, field: 'address' }] });
}

function conflict(message: string, field: string): Fault {
  return new Fault('conflict', { details: [{ message, field }] });
}
