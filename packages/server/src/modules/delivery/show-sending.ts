import { iso } from '../../platform/time/clock.ts';
import { listDomains, printThrottle, type SendingDomain, readBucket } from '../sending/index.ts';
import { listSettings } from '../workspace/index.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { findSender } from './find-sender.ts';
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
    replies: repliesOf(outlet.mailDomain, settings.replyForwardTo),
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

/** Replies are captured if inbound email is set up and there is an address to forward them to. */
function repliesOf(
  mailDomain: string | null,
  forwardTo: string | null,
): { captured: boolean; missing: 'mail_domain' | 'reply_forward_to' | null } {
  if (mailDomain === null) return { captured: false, missing: 'mail_domain' };
  if (forwardTo === null) return { captured: false, missing: 'reply_forward_to' };
  return { captured: true, missing: null };
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
