import { domainPart } from '../../platform/net/address.ts';
import { findByAddress, findPeople, personKey, type Person } from '../users/index.ts';
import {
  gate,
  type GateReason,
  type GateFacts,
  type Policy,
  readBucket,
  refill,
  findRefusals,
  type ClearPlace,
} from '../sending/index.ts';
import { readTurn } from '../../platform/locks/project-lock.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { reasonWords } from './reason-sentences.ts';
import { loadProjectModels, type Model, zoneOfPerson } from '../rules/index.ts';
import { addressOf, type Gates, openGates, findSender, type Mailroom } from '../delivery/index.ts';
import { formsOf } from '../outcomes/index.ts';

/** The result of one send check for an email that does not exist. `until`: when the check can pass without a change, or null. */
export type GateVerdict = {
  /** The name of the check. Its reasons are the codes of the drafts that it holds. */
  check: string;
  passes: boolean;
  words: string;
  until: number | null;
  detail: Record<string, unknown>;
};
export type Mailable = {
  person: Person;
  address: string | null;
  gates: GateVerdict[];
  topicsRefused: string[];
};

const PEOPLE_MAX = 20;

/**
 * Evaluates every send check for an email to this address or user now, including the checks after a failing one. It uses the sender's own
 * function, and removes each failing check before it evaluates again. It takes no slot and no token.
 */
export async function wouldBeMailed(
  tx: Tx,
  { place, now, mailroom }: { place: ClearPlace; now: number; mailroom: Mailroom },
): Promise<{ people: Mailable[]; isCut: boolean }> {
  const found = await findConcerned(tx, place);
  const people = found.slice(0, PEOPLE_MAX);
  const isCut = found.length > PEOPLE_MAX;
  if (people.length === 0) return { people: [], isCut };
  const { projectId } = place;
  const model = (await loadProjectModels(tx, [await readTurn(tx, projectId)], { now })).get(projectId);
  if (!model) throw new Error(`project ${projectId} has no settings`);
  const sender = await findSender(tx, model, mailroom);
  const bucket = await readBucket(tx, projectId);
  const byKey = new Map(people.map((person) => [personKey(person), person]));
  const gates = await openGates(tx, { model, now, bucket, people: byKey, sender, mailroom });
  const refused = await findRefusals(
    tx,
    people.map((person) => ({ projectId, userId: person.userId, address: addressOf(person) })),
  );
  const told = people.map((person, at) => ({
    person,
    address: addressOf(person),
    gates: askEvery(factsOf(gates, model, person), gates),
    topicsRefused: [...(refused[at] ?? [])].toSorted(),
  }));
  return { people: told, isCut };
}

async function findConcerned(tx: Tx, { projectId, kind, value }: ClearPlace): Promise<Person[]> {
  const userIds =
    kind === 'user'
      ? [value]
      : (await findByAddress(tx, projectId, formsOf(value))).map(({ userId }) => userId);
  const asked = userIds.slice(0, PEOPLE_MAX + 1).map((userId) => ({ projectId, userId }));
  return asked.length === 0 ? [] : findPeople(tx, asked);
}

/** Returns facts that belong to no particular draft: the rule is enabled, there is no topic, and the email counts towards the caps. */
function factsOf(gates: Gates, model: Model, person: Person): GateFacts {
  const { policy, now, warmup, narrow, mailroom } = gates;
  const address = addressOf(person);
  const provider = address === null ? '' : mailroom.providers.of(domainPart(address));
  const { left, nextAt } = refill(gates.bucket, policy.throttle, now);
  return {
    draftId: person.userId,
    isRestored: gates.isRestored,
    ruleIsOn: true,
    suppression: gates.suppressions.get(personKey(person)) ?? null,
    refusedTopic: null,
    address,
    domain: gates.domain,
    zone: zoneOfPerson(person, model),
    counts: true,
    claimedAt: address === null ? [] : (gates.claims.get(address) ?? []),
    yieldsTo: null,
    throttle: { left, nextAt },
    narrow: narrow?.holds(provider) ?? null,
    warmup: warmup !== null && warmup.left < 1 ? { nextAt: warmup.nextAt } : 'pass',
  };
}

type Asking = { facts: GateFacts; policy: Policy };

type SendCheck = { check: string; reasons: GateReason[]; open: (asking: Asking) => Asking; words: string };

/** The send checks in their order. `open` lets a check pass, so that the checks after it can be evaluated. */
const GATES: SendCheck[] = [
  {
    check: 'restore',
    reasons: ['restore_unconfirmed'],
    open: changing({ isRestored: false }),
    words: 'the database is not a restored copy',
  },
  {
    check: 'pause',
    reasons: ['paused'],
    open: ({ facts, policy }) => ({ facts, policy: { ...policy, paused: false } }),
    words: 'sending is not paused',
  },
  {
    check: 'suppression',
    reasons: ['suppressed'],
    open: changing({ suppression: null }),
    words: 'no suppression applies',
  },
  {
    check: 'address',
    reasons: ['no_address'],
    open: changing({ address: '' }),
    words: 'the user has an address',
  },
  {
    check: 'sender',
    reasons: ['domain_not_ready', 'no_sender', 'public_url'],
    open: changing({ domain: 'pass' }),
    words: 'the sender and its domain are ready',
  },
  {
    check: 'quiet_hours',
    reasons: ['quiet_hours'],
    open: ({ facts, policy }) => ({ facts, policy: { ...policy, quietHours: null } }),
    words: 'it is outside quiet hours for the user',
  },
  {
    check: 'frequency_cap',
    reasons: ['frequency_cap'],
    open: changing({ counts: false }),
    words: 'the frequency cap is not reached',
  },
  {
    check: 'throttle',
    reasons: ['throttle'],
    open: changing({ throttle: { left: 1, nextAt: 0 } }),
    words: 'the throttle of the project is not reached',
  },
  {
    check: 'domain_throttle',
    reasons: ['domain_throttle', 'provider_throttle'],
    open: changing({ narrow: null }),
    words: 'the throttles of the domain and the mailbox provider are not reached',
  },
  {
    check: 'warmup',
    reasons: ['warmup'],
    open: changing({ warmup: 'pass' }),
    words: 'the warm-up limit of the domain is not reached',
  },
];

function changing(change: Partial<GateFacts>): (asking: Asking) => Asking {
  return ({ facts, policy }) => ({ facts: { ...facts, ...change }, policy });
}

function askEvery(given: GateFacts, { policy, now }: Gates): GateVerdict[] {
  let asking: Asking = { facts: given, policy };
  return GATES.map(({ check, reasons, open, words }): GateVerdict => {
    const answer = gate(asking.facts, asking.policy, now);
    const isThis = !answer.passes && reasons.includes(answer.reason);
    asking = open(asking);
    if (!isThis) return { check, passes: true, words, until: null, detail: {} };
    const { reason, until, detail } = answer;
    return { check, passes: false, words: reasonWords(reason, 'draft', detail), until, detail };
  });
}
