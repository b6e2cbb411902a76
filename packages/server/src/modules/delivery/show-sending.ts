import { iso } from '../../platform/time/clock.ts';
import { listDomains, printThrottle, type SendingDomain, readBucket } from '../sending/index.ts';
import type { SendingState } from '@beckon/contract/dashboard';
import { listSettings, type Settings } from '../workspace/index.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { findSender, type ProjectSender } from './find-sender.ts';
import { fitsPlusAddressing } from './headers.ts';
import type { SendServices } from './send-services.ts';
import { senderGate } from './sender-identity.ts';
import { countForWarmup } from './email-rows.ts';
import { warmupDay, remainingWarmup, hasWarmupProblems, refill } from './gate/limits.ts';

export type SendingQuery = { projectId: number; now: number; sendServices: SendServices };

type DomainSummary = { id: string; name: string; state: string; paused: string | null };
export type SenderProblem = { reason: 'domain_not_ready' | 'no_sender' | 'public_url'; detail: string };

/** Returns the current sender of a project, and the obstacles to sending that no setting shows. */
export async function readSendingState(tx: Tx, query: SendingQuery) {
  const { projectId, now, sendServices } = query;
  const project = (await listSettings(tx, [projectId])).get(projectId);
  if (!project) throw new Error('a project without settings');
  const { settings } = project;
  const sender = await findSender(tx, { project }, sendServices);
  const { outlet } = sender;
  const domain = sender.signer?.domain ?? null;
  const relay = { outlet: { ...outlet, kind: 'relay' as const }, identity: settings.sender, domain };
  const { remaining, nextAt } = refill(await readBucket(tx, projectId), settings.throttle, now);
  return {
    sender: {
      test_inbox: outlet.kind === 'test_inbox',
      problem: problemOf(sender.gate),
      name: sender.name,
      address: sender.address,
      reply_to: sender.replyTo,
      domain: domain && domainSummary(domain),
    },
    with_relay: problemOf(senderGate(relay)),
    domains: (await listDomains(tx, projectId)).map((listed) => ({
      ...domainSummary(listed),
      throttle: printThrottle(listed.throttle),
    })),
    replies: await readReplies(tx, { projectId, settings, sender, mailDomain: outlet.mailDomain }),
    throttle: {
      remaining: settings.throttle ? remaining : null,
      next_at: settings.throttle && remaining < 1 ? iso(nextAt) : null,
    },
    warmup: await readWarmup(tx, query, sender),
  };
}

function problemOf(gate: 'pass' | SenderProblem): SenderProblem | null {
  return gate === 'pass' ? null : gate;
}

function domainSummary({ id, name, state, pausedReason }: SendingDomain): DomainSummary {
  return { id, name, state, paused: pausedReason };
}

type RepliesQuery = {
  projectId: number;
  settings: Settings;
  sender: Pick<ProjectSender, 'address' | 'replyTo'>;
  mailDomain: string | null;
};

/** Replies are captured by a reply source, or by inbound email if there is an address to forward them to. */
async function readReplies(
  tx: Tx,
  { projectId, settings, sender, mailDomain }: RepliesQuery,
): Promise<SendingState['replies']> {
  const { replyForwardTo: forwardTo, replyPlusAddressing } = settings;
  const source = await hasReplySource(tx, projectId);
  const missing = mailDomain === null ? 'mail_domain' : forwardTo === null ? 'reply_forward_to' : null;
  return {
    captured: source || missing === null,
    source,
    missing: source ? null : missing,
    address_too_long: replyPlusAddressing && !fitsPlusAddressing(sender.replyTo ?? sender.address),
  };
}

/** Reads `reply_source` of the module inbound. */
async function hasReplySource(tx: Tx, projectId: number): Promise<boolean> {
  return (await tx.query(`SELECT 1 FROM beckon.reply_source WHERE project_id = $1`, [projectId])).length > 0;
}

export type WarmupState =
  | { off: 'test_inbox' | 'no_domain' | 'warm' | 'not_started' | 'complete' }
  | { off: null; day: number; emails: number; remaining: number; ends_at: string; reduced: boolean };

async function readWarmup(
  tx: Tx,
  { projectId, now }: SendingQuery,
  { outlet, signer, domain: fromDomain }: Awaited<ReturnType<typeof findSender>>,
): Promise<WarmupState> {
  if (outlet.kind === 'test_inbox') return { off: 'test_inbox' };
  const domain = signer?.domain ?? null;
  if (!domain) return { off: 'no_domain' };
  if (domain.warm) return { off: 'warm' };
  if (domain.warmupFrom === null) return { off: 'not_started' };
  const { emails, day, startsAt, endsAt } = warmupDay(domain.warmupFrom, now);
  if (emails === null) return { off: 'complete' };
  const counts = await countForWarmup(tx, { projectId, domain: fromDomain, since: startsAt });
  const remaining = Math.max(0, remainingWarmup(emails, counts));
  return {
    off: null,
    day,
    emails,
    remaining,
    ends_at: iso(endsAt),
    reduced: hasWarmupProblems(counts),
  };
}
