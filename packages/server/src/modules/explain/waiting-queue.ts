import { normaliseAddress } from '../../platform/net/address.ts';
import { ownZone } from '../../platform/time/zone.ts';
import { listQueued, type QueuedLetter } from './send-queue.ts';
import { findPeople, type Person } from '../users/index.ts';
import { listSettings } from '../workspace/index.ts';
import { type ActiveRule, loadRules } from '../rules/index.ts';
import {
  findClaims,
  type GateFacts,
  type Policy,
  type Queue,
  type QueuedDraft,
  readBucket,
  findRefusals,
  findSuppressions,
} from '../sending/index.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { findSender, type Mailroom } from '../delivery/index.ts';

export type WaitingAsked = {
  projectId: number;
  now: number;
  /** The policies to simulate: the frequency caps of each look back for their window. */
  policies: Policy[];
  mailroom: Mailroom;
  /** Only the oldest open draft, if it is in the queue. */
  isFirstOnly?: boolean;
};

/** `isCut`: the queue is longer than the part that was read. */
export type WaitingQueue = { queue: Queue; isCut: boolean };

/** Loads the drafts that are sent automatically at their time, with all data that the send checks use. */
export async function gatherWaiting(tx: Tx, asked: WaitingAsked): Promise<WaitingQueue> {
  const { projectId, mailroom, isFirstOnly = false } = asked;
  const project = (await listSettings(tx, [projectId])).get(projectId);
  if (!project) throw new Error('a project without settings');
  const { letters, isCut } = isFirstOnly ? await readFirst(tx, projectId) : await readQueue(tx, projectId);
  const { gate: domain } = await findSender(tx, { project }, mailroom);
  return { queue: await gatherFacts(tx, letters, { ...asked, domain }), isCut };
}

const QUEUE_MAX = 100_000;
const PAGE = 1_000;

type Read = { letters: QueuedLetter[]; isCut: boolean };

async function readFirst(tx: Tx, projectId: number): Promise<Read> {
  const { letters } = await listQueued(tx, { projectId, after: null, limit: 1 });
  return { letters, isCut: false };
}

async function readQueue(tx: Tx, projectId: number): Promise<Read> {
  const letters: QueuedLetter[] = [];
  for (let after: string | null = null; ;) {
    const page = await listQueued(tx, { projectId, after, limit: PAGE });
    letters.push(...page.letters);
    after = page.after;
    if (after === null) return { letters, isCut: false };
    if (letters.length >= QUEUE_MAX) return { letters, isCut: true };
  }
}

type QueueAsked = Pick<WaitingAsked, 'projectId' | 'now' | 'policies'> & { domain: GateFacts['domain'] };

async function gatherFacts(tx: Tx, letters: QueuedLetter[], asked: QueueAsked): Promise<Queue> {
  const { projectId, now, policies, domain } = asked;
  const rules = (await loadRules(tx, [projectId], [])).get(projectId);
  const windows = policies.flatMap(({ caps }) => (caps ?? []).map(({ windowMs }) => windowMs));
  const since = now - Math.max(0, ...windows);
  const drafts: QueuedDraft[] = [];
  const claims = new Map<string, number[]>();
  for (let from = 0; from < letters.length; from += PAGE) {
    const some = letters.slice(from, from + PAGE);
    const recipients = await findRecipients(tx, some, {
      projectId,
      now,
      hasTopics: rules?.hasTopics ?? false,
    });
    drafts.push(
      ...some.map((letter) => toQueued(letter, recipients, { rule: rules?.byId.get(letter.ruleId), domain })),
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
  letters: QueuedLetter[],
  { projectId, now, hasTopics }: { projectId: number; now: number; hasTopics: boolean },
): Promise<Map<string, Recipient>> {
  const users = [...new Set(letters.map(({ userId }) => userId))];
  const people = await findPeople(
    tx,
    users.map((userId) => ({ projectId, userId })),
  );
  const reached = people.map((person) => ({ projectId, userId: person.userId, address: addressOf(person) }));
  const suppressions = await findSuppressions(tx, reached, now);
  const refusals = hasTopics ? await findRefusals(tx, reached) : [];
  return new Map(
    people.map((person, i) => [
      person.userId,
      {
        address: addressOf(person),
        suppression: suppressions[i] ?? null,
        refused: refusals[i] ?? NONE,
        zone: ownZone([person.traits.get('timezone'), person.traits.get('time_zone')]),
      },
    ]),
  );
}

function addressOf({ email }: Pick<Person, 'email'>): string | null {
  return email === null ? null : normaliseAddress(email);
}

const NONE: ReadonlySet<string> = new Set();
const NOBODY: Recipient = { address: null, suppression: null, refused: NONE, zone: null };

type Standing = { rule: ActiveRule | undefined; domain: GateFacts['domain'] };

function toQueued(
  letter: QueuedLetter,
  recipients: Map<string, Recipient>,
  { rule, domain }: Standing,
): QueuedDraft {
  const { id, ruleId, userId, priority, counts, expiresAt, leavesAt: dueAt } = letter;
  const { refused, ...recipient } = recipients.get(userId) ?? NOBODY;
  const ruleIsOn = (rule?.enabledAt ?? null) !== null;
  const topic = rule?.definition.topic ?? null;
  const refusedTopic = topic !== null && refused.has(topic) ? topic : null;
  const own = { id, ruleId, userId, priority, counts, expiresAt, dueAt };
  return { ...own, ruleIsOn, domain, refusedTopic, ...recipient };
}
