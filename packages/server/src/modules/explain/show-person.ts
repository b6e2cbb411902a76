import type { AudienceOfUser } from '@beckon/contract/dashboard';
import { findMemberships, loadModels } from '../audiences/index.ts';
import {
  type EventOfPerson,
  listNewest,
  type PersonId,
  showPerson as show,
  type PersonView,
  unknownPerson,
} from '../users/index.ts';
import { listOutcomesOf, type OutcomeView, outcomeView } from '../outcomes/index.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { listEmailsOf, ruleNames, type DecisionView, type DraftView, type RunView } from './user-emails.ts';

export type EventView = {
  id: string;
  name: string;
  properties: Record<string, unknown>;
  occurred_at: string;
  accepted_at: string;
  received_at: string;
};

/** All that is known about a user at a glance, with only the newest of long lists. */
export type PersonDetail = PersonView & {
  audiences: AudienceOfUser[];
  events: EventView[];
  drafts: DraftView[];
  decisions: DecisionView[];
  runs: RunView[];
  /** The outcomes of the user's emails. */
  outcomes: OutcomeView[];
};

const EVENTS_MAX = 1_000;
const OUTCOMES_MAX = 1_000;

export async function showPerson(tx: Tx, personId: PersonId): Promise<PersonDetail> {
  const person = await show(tx, personId);
  if (!person) throw unknownPerson(personId.userId);
  const events = await listNewest(tx, { ...personId, limit: EVENTS_MAX });
  const outcomes = await listOutcomesOf(tx, { ...personId, limit: OUTCOMES_MAX });
  const names = await ruleNames(tx, personId.projectId);
  return {
    ...person,
    audiences: await listAudiencesOf(tx, personId),
    events: events.map(eventView),
    ...(await listEmailsOf(tx, personId)),
    outcomes: outcomes.map((outcome) => outcomeView(outcome, names)),
  };
}

/** Lists the audiences that a user is in, by the served definition, or by the one that is being built if there is no other. */
export async function listAudiencesOf(tx: Tx, { projectId, userId }: PersonId): Promise<AudienceOfUser[]> {
  const model = (await loadModels(tx, [projectId])).get(projectId);
  const [membership] = await findMemberships(tx, [{ projectId, userId }], { withTimers: false });
  return (model?.versions ?? [])
    .flatMap(({ versionId, audienceId, name }) => {
      const since = membership?.members.get(versionId);
      const isCurrent = model?.versionFor(audienceId)?.versionId === versionId;
      return since && isCurrent ? [{ id: audienceId, name, since: since.toISOString() }] : [];
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

export function eventView(event: EventOfPerson): EventView {
  return {
    id: event.id,
    name: event.name,
    properties: event.properties,
    occurred_at: event.occurred_at.toISOString(),
    accepted_at: event.accepted_at.toISOString(),
    received_at: event.received_at.toISOString(),
  };
}
