import { domainPart, normaliseAddress } from '../../platform/net/address.ts';
import type { Draft } from '../drafts/index.ts';
import { listContending } from './contenders.ts';
import { findByAddress, type Person, personKey } from '../users/index.ts';
import type { Settings } from '../workspace/index.ts';
import {
  type ThrottleBucket,
  refill,
  takeTokens,
  CONTEND_WITHIN_MS,
  type Contender,
  slotsLeft,
  whoYields,
  findClaims,
  gate,
  type GateAnswer,
  type GateFacts,
  type Outlet,
  type Policy,
  quietHoursInForce,
  isAccepted,
  findRefusals,
  findSuppressions,
  type FoundSuppression,
} from '../sending/index.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { type Model, zoneOfPerson } from '../rules/index.ts';
import type { Mailroom } from './mailroom.ts';
import { type Narrow, openNarrow, openWarmup } from './domain-limits.ts';
import type { ProjectSender } from './find-sender.ts';

/** The input of the send checks of one project. Each claim counts for the drafts after it. */
export type Gates = {
  model: Model;
  policy: Policy;
  now: number;
  bucket: ThrottleBucket | null;
  domain: GateFacts['domain'];
  /** The limits of the sending domain and of its recipients' providers; null if there are no limits. */
  narrow: Narrow | null;
  /** How many more emails the warm-up allows, and when it allows more; null: it is over, or there is no warm-up. */
  warmup: { left: number; nextAt: number } | null;
  mailroom: Mailroom;
  suppressions: Map<string, FoundSuppression | null>;
  /** The topics that each user refuses, by `personKey`. */
  refusals: Map<string, ReadonlySet<string>>;
  claims: Map<string, number[]>;
  contenders: Map<string, Contender[]>;
  /** True if the database was restored and no operator has confirmed it. */
  isRestored: boolean;
};

export type GatesAsked = Pick<Gates, 'model' | 'now' | 'bucket' | 'mailroom'> & {
  people: Map<string, Person>;
  sender: ProjectSender;
};

/** Builds the policy of these settings. The outlet is that of the installation, so a sandbox has the quiet hours of its project. */
export function policyOf(settings: Settings, outlet: Outlet): Policy {
  const { paused, frequencyCap, throttle, timeZone } = settings;
  return { paused, quietHours: quietHoursInForce(settings, outlet), caps: frequencyCap, throttle, timeZone };
}

/** Reads everything that the send checks need about these users of one project. */
export async function openGates(tx: Tx, asked: GatesAsked): Promise<Gates> {
  const { model, now, people, sender, mailroom } = asked;
  const policy = policyOf(model.project.settings, mailroom.outlet);
  const { projectId } = model.project;
  const reached = [...people.values()].map((person) => ({ person, address: addressOf(person) }));
  // Each address once: otherwise emails to an address that two users share would count twice.
  const addresses = [...new Set(reached.flatMap(({ address }) => address ?? []))];
  const since = now - Math.max(0, ...(policy.caps ?? []).map(({ windowMs }) => windowMs));
  const addressees = reached.map(({ person, address }) => ({ projectId, userId: person.userId, address }));
  const [suppressions, refusals, claims, contenders, narrow, warmup, isOurs] = await Promise.all([
    findSuppressions(tx, addressees, now),
    model.rules.hasTopics ? findRefusals(tx, addressees) : [],
    policy.caps ? findClaims(tx, { projectId, addresses, since }) : new Map<string, number[]>(),
    policy.caps
      ? findContenders(tx, { projectId, people, until: now + CONTEND_WITHIN_MS })
      : new Map<string, Contender[]>(),
    openNarrow(tx, { projectId, sender, now }),
    openWarmup(tx, { projectId, sender, now }),
    isAccepted(tx),
  ]);
  return {
    model,
    policy,
    now,
    bucket: asked.bucket,
    domain: sender.gate,
    narrow,
    warmup,
    mailroom,
    claims,
    contenders,
    isRestored: !isOurs,
    refusals: new Map(reached.map(({ person }, i) => [personKey(person), refusals[i] ?? NONE])),
    suppressions: new Map(reached.map(({ person }, i) => [personKey(person), suppressions[i] ?? null])),
  };
}

const NONE: ReadonlySet<string> = new Set();

export function addressOf({ email }: Pick<Person, 'email'>): string | null {
  return email === null ? null : normaliseAddress(email);
}

type ContendersAsked = { projectId: number; people: Map<string, Person>; until: number };

/** Returns the contenders by address, because users of a project may share a mailbox and the frequency cap applies to the mailbox. */
async function findContenders(
  tx: Tx,
  { projectId, people, until }: ContendersAsked,
): Promise<Map<string, Contender[]>> {
  const emails = [...people.values()].flatMap(({ email }) => email ?? []);
  const sharing = await findByAddress(tx, projectId, emails);
  const addressOfUser = new Map(sharing.map(({ userId, email }) => [userId, normaliseAddress(email)]));
  const drafts = await listContending(tx, { projectId, users: [...addressOfUser.keys()], until });
  const contending = drafts
    .filter(({ counts }) => counts)
    .map(({ id, priority, dueAt, userId }) => ({
      address: addressOfUser.get(userId) ?? '',
      contender: { id, priority, deadlineAt: dueAt },
    }));
  const byAddress = Map.groupBy(contending, ({ address }) => address);
  return new Map([...byAddress].map(([address, some]) => [address, some.map(({ contender }) => contender)]));
}

/** `isTriedAgain`: the email was handed to the relay before, so it has its slots of the caps and of the warm-up already. */
export type Leaver = {
  person: Person;
  isTriedAgain?: boolean;
  /** The answer of the domain that the email is signed for, if that is not the sender's domain. */
  elsewhere?: GateFacts['domain'] | undefined;
};

/** Runs the send checks for one draft. A draft that passes takes its slot and its token, and the caller claims it. */
export function passGates(
  gates: Gates,
  draft: Draft,
  { person, isTriedAgain = false, elsewhere }: Leaver,
): GateAnswer {
  const address = addressOf(person);
  const counts = draft.counts && !isTriedAgain;
  const provider = address === null ? '' : gates.mailroom.providers.of(domainPart(address));
  const answer = gate(
    {
      ...ofItself(gates, draft, person),
      ...ofMailbox(gates, draft, { address, counts }),
      ...ofOthers(gates, provider, isTriedAgain),
      ...(elsewhere && { domain: elsewhere, narrow: null }),
    },
    gates.policy,
    gates.now,
  );
  if (!answer.passes || address === null) return answer;
  gates.bucket = takeTokens(gates.bucket, 1);
  if (!elsewhere) gates.narrow?.take(provider);
  if (gates.warmup && !isTriedAgain) gates.warmup.left -= 1;
  if (counts) takeSlot(gates, address, draft);
  return answer;
}

type OfMailbox = Pick<GateFacts, 'address' | 'counts' | 'claimedAt' | 'yieldsTo'>;

function ofMailbox(
  gates: Gates,
  { id }: Draft,
  { address, counts }: Pick<GateFacts, 'address' | 'counts'>,
): OfMailbox {
  if (address === null) return { address, counts, claimedAt: [], yieldsTo: null };
  const claimedAt = gates.claims.get(address) ?? [];
  return { address, counts, claimedAt, yieldsTo: counts ? yieldsTo(gates, address, id) : null };
}

type OfItself = Pick<
  GateFacts,
  'draftId' | 'isRestored' | 'ruleIsOn' | 'suppression' | 'refusedTopic' | 'domain' | 'zone'
>;

function ofItself(gates: Gates, draft: Draft, person: Person): OfItself {
  const { model, suppressions, refusals, domain, isRestored } = gates;
  const topic = topicOf(model, draft);
  return {
    draftId: draft.id,
    isRestored,
    ruleIsOn: (model.rules.byId.get(draft.ruleId)?.enabledAt ?? null) !== null,
    suppression: suppressions.get(personKey(person)) ?? null,
    refusedTopic: topic !== null && refusals.get(personKey(person))?.has(topic) ? topic : null,
    domain,
    zone: zoneOfPerson(person, model),
  };
}

/** Returns the current topic of the rule, so that a changed topic also applies to waiting drafts. */
function topicOf({ rules }: Pick<Model, 'rules'>, { ruleId }: Pick<Draft, 'ruleId'>): string | null {
  return rules.byId.get(ruleId)?.definition.topic ?? null;
}

/** Returns the limits that all emails of the project, of its domain or to a provider share. */
function ofOthers(
  gates: Gates,
  provider: string,
  isTriedAgain: boolean,
): Pick<GateFacts, 'throttle' | 'narrow' | 'warmup'> {
  const { policy, now, narrow, warmup } = gates;
  const { left, nextAt, bucket } = refill(gates.bucket, policy.throttle, now);
  gates.bucket = bucket;
  const isFull = warmup !== null && warmup.left < 1 && !isTriedAgain;
  return {
    throttle: { left, nextAt },
    narrow: narrow?.holds(provider) ?? null,
    warmup: isFull ? { nextAt: warmup.nextAt } : 'pass',
  };
}

function yieldsTo({ contenders, claims, policy, now }: Gates, address: string, id: string): Contender | null {
  const rivals = contenders.get(address) ?? [];
  if (rivals.length < 2) return null;
  const slots = slotsLeft(policy.caps, claims.get(address) ?? [], now);
  return whoYields(rivals, slots).get(id) ?? null;
}

function takeSlot(gates: Gates, address: string, draft: Draft): void {
  gates.claims.set(address, [gates.now, ...(gates.claims.get(address) ?? [])]);
  const rivals = gates.contenders.get(address);
  if (rivals)
    gates.contenders.set(
      address,
      rivals.filter(({ id }) => id !== draft.id),
    );
}
