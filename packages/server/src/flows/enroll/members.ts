import { type Edition, listMembersOfAny, type MemberOfAny } from '../../features/audiences/index.ts';
import { findEmails, type Person, personKey } from '../../features/people/index.ts';
import type { ActiveRule, Enrolling, Hook } from '../../features/rules/index.ts';
import { findLastRuns } from '../../features/sequences/index.ts';
import { findRefusals, findSuppressions } from '../../features/suppressions/index.ts';
import type { Tx } from '../../io/db/index.ts';
import type { Model } from '../models.ts';

/** An audience that starts a rule when a user joins it. `edition`: null while the audience is built for the first time. */
export type Door = { audienceId: string; name: string; edition: number | null; hook: Hook };

/** Each audience once, in the order of the rule's triggers. */
export function doorsOf(model: Pick<Model, 'audiences'>, rule: ActiveRule): Door[] {
  const doors = new Map<string, Door>();
  for (const [place, trigger] of rule.definition.when.entries()) {
    if (trigger.kind !== 'audience' || trigger.move !== 'joined' || doors.has(trigger.audienceId)) continue;
    const { audienceId } = trigger;
    const edition = model.audiences.editionFor(audienceId);
    const hook = { rule, trigger, place };
    doors.set(audienceId, {
      audienceId,
      name: edition?.name ?? audienceId,
      edition: servedBy(edition),
      hook,
    });
  }
  return [...doors.values()];
}

function servedBy(edition: Edition | undefined): number | null {
  return edition?.state === 'served' ? edition.edition : null;
}

export function editionsOf(doors: Door[]): number[] {
  return doors.flatMap(({ edition }) => edition ?? []);
}

export type Candidate = MemberOfAny & { door: Door };

/** Members who joined by `until`; of a user in several audiences, the first one counts. */
export async function listCandidates(
  tx: Tx,
  {
    doors,
    ...page
  }: { projectId: number; doors: Door[]; until: number; after: string | null; limit: number },
): Promise<Candidate[]> {
  const byEdition = new Map(doors.map((door) => [door.edition, door]));
  const members = await listMembersOfAny(tx, { ...page, editions: editionsOf(doors) });
  return members.flatMap((member) => {
    const door = byEdition.get(member.edition);
    return door ? [{ ...member, door }] : [];
  });
}

type Asked = { rule: ActiveRule; people: Person[]; candidates: Candidate[]; now: number };

/** What the decision about each candidate asks beside what a join asks, by user id. It fills in the addresses of these people. */
export async function enrollingOf(
  tx: Tx,
  { rule, people, candidates, now }: Asked,
): Promise<Map<string, Enrolling>> {
  const [first] = people;
  if (!first) return new Map();
  const { projectId } = first;
  const emails = await findEmails(tx, people);
  for (const person of people) person.email = emails.get(personKey(person)) ?? null;
  const addressees = people.map(({ userId, email: address }) => ({ projectId, userId, address }));
  const users = people.map(({ userId }) => userId);
  const { topic } = rule.definition;
  const [suppressions, refusals, lastRuns] = await Promise.all([
    findSuppressions(tx, addressees, now),
    topic === null ? [] : findRefusals(tx, addressees),
    findLastRuns(tx, { projectId, ruleId: rule.id, users }),
  ]);
  const since = new Map(candidates.map((candidate) => [candidate.userId, candidate.since]));
  return new Map(
    people.map(({ userId, email }, at): [string, Enrolling] => [
      userId,
      {
        since: since.get(userId) ?? now,
        lastRunAt: lastRuns.get(userId) ?? null,
        unreachable: unreachable({
          email,
          isSuppressed: suppressions[at] != null,
          isRefused: topic !== null && (refusals[at]?.has(topic) ?? false),
        }),
      },
    ]),
  );
}

type Reach = { email: string | null; isSuppressed: boolean; isRefused: boolean };

function unreachable({ email, isSuppressed, isRefused }: Reach): Enrolling['unreachable'] {
  if (isSuppressed) return 'address_suppressed';
  if (email === null) return 'no_address';
  return isRefused ? 'topic_refused' : null;
}
