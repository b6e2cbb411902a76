import { domainPart, normaliseAddress } from '../../platform/net/address.ts';
import type { Draft } from '../drafts/index.ts';
import { listContending } from './contenders.ts';
import { findByAddress, type Person, personKey } from '../users/index.ts';
import type { Settings } from '../workspace/index.ts';
import {
  type ThrottleBucket,
  isAccepted,
  findTopicUnsubscribes,
  findSuppressions,
  type FoundSuppression,
  remainingSlots,
} from '../sending/index.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { type Model, zoneOfPerson } from '../rules/index.ts';
import { NO_PROVIDERS, type SendServices } from './send-services.ts';
import { type DomainLimits, loadDomainLimits, loadWarmup } from './domain-limits.ts';
import type { ProjectSender } from './find-sender.ts';
import { refill, takeTokens, CONTEND_WITHIN_MS, type Contender, findYields } from './gate/limits.ts';
import { findClaims } from './email-rows.ts';
import { gate, type GateResult } from './gate/gate.ts';
import type { GateFacts, Outlet, Policy } from './gate/facts.ts';
import { quietHoursInForce } from './gate/quiet-hours.ts';

/** The input of the send checks of one project. Each claim counts for the drafts after it. */
export type Gates = {
  model: Model;
  policy: Policy;
  now: number;
  bucket: ThrottleBucket | null;
  domain: GateFacts['domain'];
  /** The limits of the sending domain and of its recipients' providers; null if there are no limits. */
  domainLimits: DomainLimits | null;
  /** How many more emails the warm-up allows, and when it allows more; null: it is over, or there is no warm-up. */
  warmup: { remaining: number; nextAt: number } | null;
  sendServices: SendServices;
  suppressions: Map<string, FoundSuppression | null>;
  /** The topics that each user refuses, by `personKey`. */
  refusals: Map<string, ReadonlySet<string>>;
  claims: Map<string, number[]>;
  contenders: Map<string, Contender[]>;
  /** True if the database was restored and no operator has confirmed it. */
  isRestored: boolean;
};

export type GatesQuery = Pick<Gates, 'model' | 'now' | 'bucket' | 'sendServices'> & {
  people: Map<string, Person>;
  sender: ProjectSender;
};

/** Builds the policy of these settings. The outlet is that of the installation, so a sandbox has the quiet hours of its project. */
export function policyOf(settings: Settings, outlet: Outlet): Policy {
  const { paused, frequencyCap, throttle, timeZone } = settings;
  return { paused, quietHours: quietHoursInForce(settings, outlet), caps: frequencyCap, throttle, timeZone };
}

/** Reads everything that the send checks need about these users of one project. */
export async function loadGates(tx: Tx, query: GatesQuery): Promise<Gates> {
  const { model, now, people, sender, sendServices } = query;
  const policy = policyOf(model.project.settings, sender.relay ? sender.outlet : sendServices.outlet);
  const { projectId } = model.project;
  const recipients = [...people.values()].map((person) => ({ person, address: addressOf(person) }));
  // Each address once: otherwise emails to an address that two users share would count twice.
  const addresses = [...new Set(recipients.flatMap(({ address }) => address ?? []))];
  const since = now - Math.max(0, ...(policy.caps ?? []).map(({ windowMs }) => windowMs));
  const addressees = recipients.map(({ person, address }) => ({ projectId, userId: person.userId, address }));
  const [suppressions, refusals, claims, contenders, domainLimits, warmup, isOurs] = await Promise.all([
    findSuppressions(tx, addressees, now),
    model.rules.hasTopics ? findTopicUnsubscribes(tx, addressees) : [],
    policy.caps ? findClaims(tx, { projectId, addresses, since }) : new Map<string, number[]>(),
    policy.caps
      ? findContenders(tx, { projectId, people, until: now + CONTEND_WITHIN_MS })
      : new Map<string, Contender[]>(),
    loadDomainLimits(tx, { projectId, sender, now }),
    loadWarmup(tx, { projectId, sender, now }),
    isAccepted(tx),
  ]);
  return {
    model,
    policy,
    now,
    bucket: query.bucket,
    domain: sender.gate,
    domainLimits,
    warmup,
    // No name server is queried for emails in the test inbox.
    sendServices:
      sender.outlet.kind === 'relay' ? sendServices : { ...sendServices, providers: NO_PROVIDERS },
    claims,
    contenders,
    isRestored: !isOurs,
    refusals: new Map(recipients.map(({ person }, i) => [personKey(person), refusals[i] ?? NO_TOPICS])),
    suppressions: new Map(recipients.map(({ person }, i) => [personKey(person), suppressions[i] ?? null])),
  };
}

const NO_TOPICS: ReadonlySet<string> = new Set();

export function addressOf({ email }: Pick<Person, 'email'>): string | null {
  return email === null ? null : normaliseAddress(email);
}

type ContendersQuery = { projectId: number; people: Map<string, Person>; until: number };

/** Returns the contenders by address, because users of a project may share a mailbox and the frequency cap applies to the mailbox. */
async function findContenders(
  tx: Tx,
  { projectId, people, until }: ContendersQuery,
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
  return new Map(
    [...byAddress].map(([address, group]) => [address, group.map(({ contender }) => contender)]),
  );
}

/** `isTriedAgain`: the email was handed to the relay before, so it has its slots of the caps and of the warm-up already. */
export type GateOptions = {
  person: Person;
  isTriedAgain?: boolean;
  /** The answer of the domain that the email is signed for, if that is not the sender's domain. */
  domainGate?: GateFacts['domain'] | undefined;
};

/** Runs the send checks for one draft. A draft that passes takes its slot and its token, and the caller claims it. */
export function passGates(
  gates: Gates,
  draft: Draft,
  { person, isTriedAgain = false, domainGate }: GateOptions,
): GateResult {
  const address = addressOf(person);
  const counts = draft.counts && !isTriedAgain;
  const provider = address === null ? '' : gates.sendServices.providers.of(domainPart(address));
  const result = gate(
    {
      ...draftFacts(gates, draft, person),
      ...mailboxFacts(gates, draft, { address, counts }),
      ...sharedFacts(gates, provider, isTriedAgain),
      ...(domainGate && { domain: domainGate, domainLimit: null }),
    },
    gates.policy,
    gates.now,
  );
  if (!result.passes || address === null) return result;
  gates.bucket = takeTokens(gates.bucket, 1);
  if (!domainGate) gates.domainLimits?.takeToken(provider);
  if (gates.warmup && !isTriedAgain) gates.warmup.remaining -= 1;
  if (counts) takeSlot(gates, address, draft);
  return result;
}

type MailboxFacts = Pick<GateFacts, 'address' | 'counts' | 'claimedAt' | 'yieldsTo'>;

function mailboxFacts(
  gates: Gates,
  { id }: Draft,
  { address, counts }: Pick<GateFacts, 'address' | 'counts'>,
): MailboxFacts {
  if (address === null) return { address, counts, claimedAt: [], yieldsTo: null };
  const claimedAt = gates.claims.get(address) ?? [];
  return { address, counts, claimedAt, yieldsTo: counts ? yieldsTo(gates, address, id) : null };
}

type DraftFacts = Pick<
  GateFacts,
  'draftId' | 'isRestored' | 'ruleIsOn' | 'suppression' | 'refusedTopic' | 'domain' | 'zone'
>;

function draftFacts(gates: Gates, draft: Draft, person: Person): DraftFacts {
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
function sharedFacts(
  gates: Gates,
  provider: string,
  isTriedAgain: boolean,
): Pick<GateFacts, 'throttle' | 'domainLimit' | 'warmup'> {
  const { policy, now, domainLimits, warmup } = gates;
  const { remaining, nextAt, bucket } = refill(gates.bucket, policy.throttle, now);
  gates.bucket = bucket;
  const isFull = warmup !== null && warmup.remaining < 1 && !isTriedAgain;
  return {
    throttle: { remaining, nextAt },
    domainLimit: domainLimits?.limitFor(provider) ?? null,
    warmup: isFull ? { nextAt: warmup.nextAt } : 'pass',
  };
}

function yieldsTo({ contenders, claims, policy, now }: Gates, address: string, id: string): Contender | null {
  const rivals = contenders.get(address) ?? [];
  if (rivals.length < 2) return null;
  const slots = remainingSlots(policy.caps, claims.get(address) ?? [], now);
  return findYields(rivals, slots).get(id) ?? null;
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
