import type { AudienceVersion } from '../../audiences/index.ts';
import { findEmails, type Person, personKey } from '../../users/index.ts';
import type { ActiveRule, Hook } from '../definitions/model.ts';
import type { EnrollmentFacts } from '../definitions/decide.ts';
import { findLastRuns } from '../runs/reads.ts';
import { findTopicUnsubscribes, findSuppressions } from '../../sending/index.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { Model } from '../project-model.ts';
import { listMembersOfAny, type MemberOfAny } from './audience-members.ts';

/** An audience that starts a rule when a user joins it. `version` is null while the audience is built for the first time. */
export type EntryAudience = { audienceId: string; name: string; versionId: number | null; hook: Hook };

/** Lists each audience once, in the order of the rule's triggers. */
export function entryAudiences(model: Pick<Model, 'audiences'>, rule: ActiveRule): EntryAudience[] {
  const audiences = new Map<string, EntryAudience>();
  for (const [position, trigger] of rule.definition.when.entries()) {
    if (trigger.kind !== 'audience' || trigger.move !== 'joined' || audiences.has(trigger.audienceId))
      continue;
    const { audienceId } = trigger;
    const version = model.audiences.versionFor(audienceId);
    const hook = { rule, trigger, position };
    audiences.set(audienceId, {
      audienceId,
      name: version?.name ?? audienceId,
      versionId: servedBy(version),
      hook,
    });
  }
  return [...audiences.values()];
}

function servedBy(version: AudienceVersion | undefined): number | null {
  return version?.state === 'served' ? version.versionId : null;
}

export function versionIdsOf(audiences: EntryAudience[]): number[] {
  return audiences.flatMap(({ versionId }) => versionId ?? []);
}

export type Candidate = MemberOfAny & { audience: EntryAudience };

type CandidatePage = {
  projectId: number;
  audiences: EntryAudience[];
  until: number;
  after: string | null;
  limit: number;
};

/** Lists members who joined by `until`. For a user in several audiences, the first one counts. */
export async function listCandidates(tx: Tx, { audiences, ...page }: CandidatePage): Promise<Candidate[]> {
  const byVersionId = new Map(audiences.map((audience) => [audience.versionId, audience]));
  const members = await listMembersOfAny(tx, { ...page, versionIds: versionIdsOf(audiences) });
  return members.flatMap((member) => {
    const audience = byVersionId.get(member.versionId);
    return audience ? [{ ...member, audience }] : [];
  });
}

type Batch = { rule: ActiveRule; people: Person[]; candidates: Candidate[]; now: number };

/** Reads the facts that only an enrollment checks, by user id. It also sets the email addresses of these users. */
export async function readEnrollmentFacts(
  tx: Tx,
  { rule, people, candidates, now }: Batch,
): Promise<Map<string, EnrollmentFacts>> {
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
    topic === null ? [] : findTopicUnsubscribes(tx, addressees),
    findLastRuns(tx, { projectId, ruleId: rule.id, users }),
  ]);
  const since = new Map(candidates.map((candidate) => [candidate.userId, candidate.since]));
  return new Map(
    people.map(({ userId, email }, at): [string, EnrollmentFacts] => [
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

type Reachability = { email: string | null; isSuppressed: boolean; isRefused: boolean };

function unreachable({ email, isSuppressed, isRefused }: Reachability): EnrollmentFacts['unreachable'] {
  if (isSuppressed) return 'address_suppressed';
  if (email === null) return 'no_address';
  return isRefused ? 'topic_unsubscribed' : null;
}
