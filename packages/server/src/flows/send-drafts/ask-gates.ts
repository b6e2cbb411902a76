import { normaliseAddress } from '../../base/address.ts';
import { type Draft, listContending } from '../../features/drafts/index.ts';
import { findByAddress, type Person, personKey } from '../../features/people/index.ts';
import {
  type Bucket,
  CONTEND_WITHIN_MS,
  type Contender,
  findClaims,
  gate,
  type GateAnswer,
  type GateFacts,
  type Policy,
  refill,
  slotsLeft,
  takeTokens,
  whoYields,
} from '../../features/sending/index.ts';
import { findSuppressions, type FoundSuppression } from '../../features/suppressions/index.ts';
import type { Tx } from '../../io/db/index.ts';
import type { Model } from '../models.ts';
import { zoneOfPerson } from '../rules/index.ts';

/** What the gates of one project look at; whatever is claimed counts for those who come behind. */
export type Gates = {
  model: Model;
  policy: Policy;
  now: number;
  bucket: Bucket | null;
  domain: GateFacts['domain'];
  suppressions: Map<string, FoundSuppression | null>;
  claims: Map<string, number[]>;
  contenders: Map<string, Contender[]>;
};

export type GatesAsked = Pick<Gates, 'model' | 'now' | 'bucket' | 'domain'> & {
  people: Map<string, Person>;
};

export function policyOf({ project: { settings } }: Pick<Model, 'project'>): Policy {
  const { paused, quietHours, frequencyCap, throttle, timeZone } = settings;
  return { paused, quietHours, caps: frequencyCap, throttle, timeZone };
}

/** Looks up all that the gates have to know about these people of one project. */
export async function openGates(tx: Tx, asked: GatesAsked): Promise<Gates> {
  const { model, now, people } = asked;
  const policy = policyOf(model);
  const { projectId } = model.project;
  const reached = [...people.values()].map((person) => ({ person, address: addressOf(person) }));
  // Each once, or the letters to a mailbox that two people share would count twice.
  const addresses = [...new Set(reached.flatMap(({ address }) => address ?? []))];
  const since = now - Math.max(0, ...(policy.caps ?? []).map(({ windowMs }) => windowMs));
  const [suppressions, claims, contenders] = await Promise.all([
    findSuppressions(
      tx,
      reached.map(({ person, address }) => ({ projectId, userId: person.userId, address })),
      now,
    ),
    policy.caps ? findClaims(tx, { projectId, addresses, since }) : new Map<string, number[]>(),
    policy.caps
      ? findContenders(tx, { projectId, people, until: now + CONTEND_WITHIN_MS })
      : new Map<string, Contender[]>(),
  ]);
  return {
    model,
    policy,
    now,
    bucket: asked.bucket,
    domain: asked.domain,
    claims,
    contenders,
    suppressions: new Map(reached.map(({ person }, i) => [personKey(person), suppressions[i] ?? null])),
  };
}

export function addressOf({ email }: Pick<Person, 'email'>): string | null {
  return email === null ? null : normaliseAddress(email);
}

type ContendersAsked = { projectId: number; people: Map<string, Person>; until: number };

/** By address: a mailbox may belong to several people of a project, and the cap is the mailbox's. */
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

/** Asks the gates about one draft. What passes takes its slot and its token; whoever asks claims it. */
export function passGates(gates: Gates, draft: Draft, person: Person): GateAnswer {
  const { model, policy, now, domain, claims } = gates;
  const address = addressOf(person);
  const claimedAt = address === null ? [] : (claims.get(address) ?? []);
  const { left, nextAt, bucket } = refill(gates.bucket, policy.throttle, now);
  gates.bucket = bucket;
  const answer = gate(
    {
      draftId: draft.id,
      ruleIsOn: (model.rules.byId.get(draft.ruleId)?.enabledAt ?? null) !== null,
      suppression: gates.suppressions.get(personKey(person)) ?? null,
      address,
      domain,
      zone: zoneOfPerson(person, model),
      counts: draft.counts,
      claimedAt,
      yieldsTo: address === null ? null : yieldsTo(gates, address, draft.id),
      throttle: { left, nextAt },
      ramp: 'pass',
    },
    policy,
    now,
  );
  if (answer.passes && address !== null) take(gates, address, draft);
  return answer;
}

function yieldsTo({ contenders, claims, policy, now }: Gates, address: string, id: string): Contender | null {
  const rivals = contenders.get(address) ?? [];
  if (rivals.length < 2) return null;
  const slots = slotsLeft(policy.caps, claims.get(address) ?? [], now);
  return whoYields(rivals, slots).get(id) ?? null;
}

function take(gates: Gates, address: string, draft: Draft): void {
  gates.bucket = takeTokens(gates.bucket, 1);
  if (!draft.counts) return;
  gates.claims.set(address, [gates.now, ...(gates.claims.get(address) ?? [])]);
  const rivals = gates.contenders.get(address);
  if (rivals)
    gates.contenders.set(
      address,
      rivals.filter(({ id }) => id !== draft.id),
    );
}
