import {
  findSender,
  type SendServices,
  findClaims,
  type GateFacts,
  type Policy,
  type Queue,
  type QueuedDraft,
} from '../delivery/index.ts';
import {
  type Draft,
  expiryOf,
  automaticSendAt,
  INCOMPLETE_REASONS,
  MEMBER_DECIDES,
} from '../drafts/index.ts';
import { type ActiveRule, loadRules } from '../rules/index.ts';
import { findTopicUnsubscribes, findSuppressions, readBucket } from '../sending/index.ts';
import { findPeople, type Person } from '../users/index.ts';
import { listSettings } from '../workspace/index.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { normaliseAddress } from '../../platform/net/address.ts';
import { namedZone } from '../../platform/time/zone.ts';

export type WaitingQuery = {
  projectId: number;
  now: number;
  /** The policies to simulate: the frequency caps of each look back for their window. */
  policies: Policy[];
  sendServices: SendServices;
  /** Only the oldest open draft, if it is in the queue. */
  isFirstOnly?: boolean;
  /** Only the drafts of this user. */
  userId?: string;
};

/** `isCut`: the queue is longer than the part that was read. */
export type WaitingQueue = { queue: Queue; isCut: boolean };

/** Loads the drafts that are sent automatically at their time, with all data that the send checks use. */
export async function loadWaitingQueue(tx: Tx, query: WaitingQuery): Promise<WaitingQueue> {
  const { projectId, sendServices, isFirstOnly = false, userId = null } = query;
  const project = (await listSettings(tx, [projectId])).get(projectId);
  if (!project) throw new Error('a project without settings');
  const { emails, isCut } = isFirstOnly
    ? await readFirst(tx, projectId)
    : await readQueue(tx, { projectId, userId });
  const { gate: domain } = await findSender(tx, { project }, sendServices);
  return { queue: await loadFacts(tx, emails, { ...query, domain }), isCut };
}

const QUEUE_MAX = 100_000;
const PAGE = 1_000;

type QueueRead = { emails: QueuedEmail[]; isCut: boolean };

async function readFirst(tx: Tx, projectId: number): Promise<QueueRead> {
  const { emails } = await listQueued(tx, { projectId, after: null, limit: 1 });
  return { emails, isCut: false };
}

/** `userId`: only the drafts of this user. */
type QueueScope = { projectId: number; userId?: string | null };

async function readQueue(tx: Tx, scope: QueueScope): Promise<QueueRead> {
  const emails: QueuedEmail[] = [];
  for (let after: string | null = null; ;) {
    const page = await listQueued(tx, { ...scope, after, limit: PAGE });
    emails.push(...page.emails);
    after = page.after;
    if (after === null) return { emails, isCut: false };
    if (emails.length >= QUEUE_MAX) return { emails, isCut: true };
  }
}

type QueueFactsQuery = Pick<WaitingQuery, 'projectId' | 'now' | 'policies'> & { domain: GateFacts['domain'] };

async function loadFacts(tx: Tx, emails: QueuedEmail[], query: QueueFactsQuery): Promise<Queue> {
  const { projectId, now, policies, domain } = query;
  const rules = (await loadRules(tx, [projectId], [])).get(projectId);
  const windows = policies.flatMap(({ caps }) => (caps ?? []).map(({ windowMs }) => windowMs));
  const since = now - Math.max(0, ...windows);
  const drafts: QueuedDraft[] = [];
  const claims = new Map<string, number[]>();
  for (let from = 0; from < emails.length; from += PAGE) {
    const chunk = emails.slice(from, from + PAGE);
    const recipients = await findRecipients(tx, chunk, {
      projectId,
      now,
      hasTopics: rules?.hasTopics ?? false,
    });
    drafts.push(
      ...chunk.map((email) => toQueued(email, recipients, { rule: rules?.byId.get(email.ruleId), domain })),
    );
    const addresses = [...new Set([...recipients.values()].flatMap(({ address }) => address ?? []))];
    const found = await findClaims(tx, { projectId, addresses, since });
    for (const [address, moments] of found) claims.set(address, moments);
  }
  drafts.sort((a, b) => a.dueAt - b.dueAt || (a.id < b.id ? -1 : 1));
  return { drafts, claims, bucket: await readBucket(tx, projectId) };
}

type Recipient = Pick<QueuedDraft, 'address' | 'suppression' | 'zone'> & { refused: ReadonlySet<string> };

async function findRecipients(
  tx: Tx,
  emails: QueuedEmail[],
  { projectId, now, hasTopics }: { projectId: number; now: number; hasTopics: boolean },
): Promise<Map<string, Recipient>> {
  const users = [...new Set(emails.map(({ userId }) => userId))];
  const people = await findPeople(
    tx,
    users.map((userId) => ({ projectId, userId })),
  );
  const contacts = people.map((person) => ({ projectId, userId: person.userId, address: addressOf(person) }));
  const suppressions = await findSuppressions(tx, contacts, now);
  const refusals = hasTopics ? await findTopicUnsubscribes(tx, contacts) : [];
  return new Map(
    people.map((person, i) => [
      person.userId,
      {
        address: addressOf(person),
        suppression: suppressions[i] ?? null,
        refused: refusals[i] ?? NONE,
        zone: namedZone([person.traits.get('timezone'), person.traits.get('time_zone')]),
      },
    ]),
  );
}

function addressOf({ email }: Pick<Person, 'email'>): string | null {
  return email === null ? null : normaliseAddress(email);
}

const NONE: ReadonlySet<string> = new Set();
const NO_USER: Recipient = { address: null, suppression: null, refused: NONE, zone: null };

type QueueContext = { rule: ActiveRule | undefined; domain: GateFacts['domain'] };

function toQueued(
  email: QueuedEmail,
  recipients: Map<string, Recipient>,
  { rule, domain }: QueueContext,
): QueuedDraft {
  const { id, ruleId, userId, priority, counts, expiresAt, leavesAt: dueAt } = email;
  const { refused, ...recipient } = recipients.get(userId) ?? NO_USER;
  const ruleIsOn = (rule?.enabledAt ?? null) !== null;
  const topic = rule?.definition.topic ?? null;
  const refusedTopic = topic !== null && refused.has(topic) ? topic : null;
  const fields = { id, ruleId, userId, priority, counts, expiresAt, dueAt };
  return { ...fields, ruleIsOn, domain, refusedTopic, ...recipient };
}

/** A draft that is sent automatically when its time comes and the send checks pass. Times are in milliseconds. */
type QueuedEmail = Pick<
  Draft,
  'id' | 'ruleId' | 'userId' | 'state' | 'reason' | 'priority' | 'counts' | 'expiresAt'
> & {
  leavesAt: number;
};

/** States and reasons that hold a draft until a member acts. A deferred email is excluded because it was claimed before. */
const WAITS_FOR_MORE = [...MEMBER_DECIDES, ...INCOMPLETE_REASONS, 'editing', 'deferred'];

/**
 * Lists the queue of a project without texts, page by page by id. Drafts that wait for a member are not in it. `expiresAt` is the time from
 * which a draft is no longer sent.
 */
export async function listQueued(
  tx: Tx,
  { projectId, userId = null, after, limit }: QueueScope & { after: string | null; limit: number },
): Promise<{ emails: QueuedEmail[]; after: string | null }> {
  const rows = await tx.query<Row>(
    `SELECT id, rule_id, external_user_id, state, resume_state, reason, priority, counts, lease_by, deadline_at, not_before,
       expires_at, ends_at
     FROM beckon.draft
     WHERE project_id = $1 AND ended_at IS NULL AND ($2::uuid IS NULL OR id > $2)
       ${userId === null ? '' : 'AND external_user_id = $4'} ORDER BY id LIMIT $3`,
    [projectId, after, limit, ...(userId === null ? [] : [userId])],
  );
  return {
    emails: rows.flatMap(toEmail),
    after: rows.length < limit ? null : (rows.at(-1)?.id ?? null),
  };
}

type Row = {
  id: string;
  rule_id: string;
  external_user_id: string;
  state: Draft['state'];
  resume_state: Draft['resumeState'];
  reason: string | null;
  priority: number;
  counts: boolean;
  lease_by: string | null;
  deadline_at: Date | null;
  not_before: Date | null;
  expires_at: Date | null;
  ends_at: Date | null;
};

function toEmail(row: Row): QueuedEmail[] {
  const { id, state, reason, priority, counts } = row;
  const times = timesOf(row);
  const at = automaticSendAt(times);
  const waits = state === 'sending' || row.lease_by !== null || WAITS_FOR_MORE.includes(reason ?? state);
  if (at === null || waits) return [];
  const expiresAt = expiryOf(times);
  const { rule_id: ruleId, external_user_id: userId } = row;
  return [{ id, ruleId, userId, state, reason, priority, counts, expiresAt, leavesAt: at }];
}

function timesOf(row: Row): Parameters<typeof expiryOf>[0] {
  const ms = (at: Date | null): number | null => at && at.getTime();
  return {
    state: row.state,
    resumeState: row.resume_state,
    deadlineAt: ms(row.deadline_at),
    notBefore: ms(row.not_before),
    expiresAt: ms(row.expires_at),
    endsAt: ms(row.ends_at),
  };
}
