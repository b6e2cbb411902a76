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
import { findSender, type SendServices } from '../../delivery/index.ts';
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
};

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
  const adapter = requireAdapter(deps.kinds, relay);
  const to = recipientOf(adapter, input.address);
  const settings = await readRelaySettings(deps, relay);
  if (settings === null) throw conflict('The relay was deleted', 'relay');
  const outbound = deps.openOutbound();
  try {
    const { db, tokenKeys, newId } = deps;
    const from = await senderOf(deps, projectId);
    const messageId = `${newId()}@${domainPart(from.address)}`;
    const mime = await composeMail(
      { ...TEXT, messageId, date: new Date(db.clock.now()), from, to: { name: '', address: to } },
      null,
    );
    const { result } = await adapter.send(
      {
        token: emailToken({ projectId: relay.projectId, emailId: relay.id }, 'relay', tokenKeys),
        mailFrom: from.address,
        rcptTo: to,
        mime,
        idempotencyKey: newId(),
      },
      { settings, outbound, key: relay.id, now: () => db.clock.now() },
    );
    requireSent(result);
    return { to };
  } finally {
    outbound.close();
  }
}

const TEXT = {
  replyTo: null,
  subject: 'Beckon feedback test',
  text: 'Beckon sent this email to an address that does not exist. Its bounce proves that outcomes are reported.\n',
  html: '<p>Beckon sent this email to an address that does not exist. Its bounce proves that outcomes are reported.</p>',
  headers: [{ name: 'Auto-Submitted', value: 'auto-generated' }],
};

export function requireAdapter(kinds: RelayKinds, { kind }: Pick<ConfiguredRelay, 'kind'>): RelayAdapter {
  const adapter = kinds.adapterOf(kind);
  if (adapter) return adapter;
  throw conflict('A relay of the kind smtp reports bounces by email, to MAIL_DOMAIN', 'relay');
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
