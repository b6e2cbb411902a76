import { domainPart } from '../../platform/net/address.ts';
import { findByAddress, findPeople, personKey, type Person } from '../users/index.ts';
import { readBucket, findTopicUnsubscribes, type ClearTarget } from '../sending/index.ts';
import { readProjectLock } from '../../platform/locks/project-lock.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { reasonWords } from './reason-sentences.ts';
import { loadProjectModels, type Model, zoneOfPerson } from '../rules/index.ts';
import {
  addressOf,
  type Gates,
  loadGates,
  findSender,
  type SendServices,
  gate,
  type GateReason,
  type GateFacts,
  type Policy,
  refill,
} from '../delivery/index.ts';
import { formsOf } from '../outcomes/index.ts';

/** The result of one send check for an email that does not exist. `until`: when the check can pass without a change, or null. */
export type SendCheckResult = {
  /** The name of the check. Its reasons are the codes of the drafts that it holds. */
  check: string;
  passes: boolean;
  words: string;
  until: number | null;
  detail: Record<string, unknown>;
};
export type Recipient = {
  person: Person;
  address: string | null;
  gates: SendCheckResult[];
  topicsRefused: string[];
};

const PEOPLE_MAX = 20;

/**
 * Evaluates every send check for an email to this address or user now, including the checks after a failing one. It uses the sender's own
 * function, and removes each failing check before it evaluates again. It takes no slot and no token.
 */
export async function checkRecipients(
  tx: Tx,
  { target, now, sendServices }: { target: ClearTarget; now: number; sendServices: SendServices },
): Promise<{ people: Recipient[]; isCut: boolean }> {
  const found = await findTargets(tx, target);
  const people = found.slice(0, PEOPLE_MAX);
  const isCut = found.length > PEOPLE_MAX;
  if (people.length === 0) return { people: [], isCut };
  const { projectId } = target;
  const model = (await loadProjectModels(tx, [await readProjectLock(tx, projectId)], { now })).get(projectId);
  if (!model) throw new Error(`project ${projectId} has no settings`);
  const sender = await findSender(tx, model, sendServices);
  const bucket = await readBucket(tx, projectId);
  const byKey = new Map(people.map((person) => [personKey(person), person]));
  const gates = await loadGates(tx, { model, now, bucket, people: byKey, sender, sendServices });
  const refused = await findTopicUnsubscribes(
    tx,
    people.map((person) => ({ projectId, userId: person.userId, address: addressOf(person) })),
  );
  const recipients = people.map((person, at) => ({
    person,
    address: addressOf(person),
    gates: checkEveryGate(factsOf(gates, model, person), gates),
    topicsRefused: [...(refused[at] ?? [])].toSorted(),
  }));
  return { people: recipients, isCut };
}

async function findTargets(tx: Tx, { projectId, kind, value }: ClearTarget): Promise<Person[]> {
  const userIds =
    kind === 'user'
      ? [value]
      : (await findByAddress(tx, projectId, formsOf(value))).map(({ userId }) => userId);
  const keys = userIds.slice(0, PEOPLE_MAX + 1).map((userId) => ({ projectId, userId }));
  return keys.length === 0 ? [] : findPeople(tx, keys);
}

/** Returns facts that belong to no particular draft: the rule is enabled, there is no topic, and the email counts towards the caps. */
function factsOf(gates: Gates, model: Model, person: Person): GateFacts {
  const { policy, now, warmup, domainLimits, sendServices } = gates;
  const address = addressOf(person);
  const provider = address === null ? '' : sendServices.providers.of(domainPart(address));
  const { remaining, nextAt } = refill(gates.bucket, policy.throttle, now);
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
    throttle: { remaining, nextAt },
    domainLimit: domainLimits?.limitFor(provider) ?? null,
    warmup: warmup !== null && warmup.remaining < 1 ? { nextAt: warmup.nextAt } : 'pass',
  };
}

type SendCheckInput = { facts: GateFacts; policy: Policy };

type SendCheck = {
  check: string;
  reasons: GateReason[];
  open: (input: SendCheckInput) => SendCheckInput;
  words: string;
};

/** The send checks in their order. `open` lets a check pass, so that the checks after it can be evaluated. */
const GATES: SendCheck[] = [
  {
    check: 'restore',
    reasons: ['restore_unconfirmed'],
    open: withFacts({ isRestored: false }),
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
    open: withFacts({ suppression: null }),
    words: 'no suppression applies',
  },
  {
    check: 'address',
    reasons: ['no_address'],
    open: withFacts({ address: '' }),
    words: 'the user has an address',
  },
  {
    check: 'sender',
    reasons: ['domain_not_ready', 'no_sender', 'public_url'],
    open: withFacts({ domain: 'pass' }),
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
    open: withFacts({ counts: false }),
    words: 'the frequency cap is not reached',
  },
  {
    check: 'throttle',
    reasons: ['throttle'],
    open: withFacts({ throttle: { remaining: 1, nextAt: 0 } }),
    words: 'the throttle of the project is not reached',
  },
  {
    check: 'domain_throttle',
    reasons: ['domain_throttle', 'provider_throttle'],
    open: withFacts({ domainLimit: null }),
    words: 'the throttles of the domain and the mailbox provider are not reached',
  },
  {
    check: 'warmup',
    reasons: ['warmup'],
    open: withFacts({ warmup: 'pass' }),
    words: 'the warm-up limit of the domain is not reached',
  },
];

function withFacts(change: Partial<GateFacts>): (input: SendCheckInput) => SendCheckInput {
  return ({ facts, policy }) => ({ facts: { ...facts, ...change }, policy });
}

function checkEveryGate(facts: GateFacts, { policy, now }: Gates): SendCheckResult[] {
  let input: SendCheckInput = { facts: facts, policy };
  return GATES.map(({ check, reasons, open, words }): SendCheckResult => {
    const result = gate(input.facts, input.policy, now);
    const isFailing = !result.passes && reasons.includes(result.reason);
    input = open(input);
    if (!isFailing) return { check, passes: true, words, until: null, detail: {} };
    const { reason, until, detail } = result;
    return { check, passes: false, words: reasonWords(reason, 'draft', detail), until, detail };
  });
}
