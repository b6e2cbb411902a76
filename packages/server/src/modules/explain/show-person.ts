import { findStandings, loadModels } from '../audiences/index.ts';
import {
  type EventOfPerson,
  listNewest,
  type PersonId,
  showPerson as show,
  type ShownPerson,
  unknownPerson,
} from '../users/index.ts';
import { listOutcomesOf, type ShownOutcome, toShownOutcome } from '../outcomes/index.ts';
import type { Tx } from '../../platform/db/statements.ts';
import {
  listEmailsOf,
  ruleNames,
  type ShownDecision,
  type ShownDraft,
  type ShownRun,
} from './user-emails.ts';

export type PersonAudience = { id: string; name: string; since: string };
export type ShownEvent = {
  id: string;
  name: string;
  properties: Record<string, unknown>;
  occurred_at: string;
  accepted_at: string;
  received_at: string;
};

/** All that is known about a user at a glance, with only the newest of long lists. */
export type WholePerson = ShownPerson & {
  audiences: PersonAudience[];
  events: ShownEvent[];
  drafts: ShownDraft[];
  decisions: ShownDecision[];
  runs: ShownRun[];
  /** The outcomes of the user's emails. */
  outcomes: ShownOutcome[];
};

const EVENTS_SHOWN_MAX = 1_000;
const OUTCOMES_SHOWN_MAX = 1_000;

export async function showPerson(tx: Tx, wanted: PersonId): Promise<WholePerson> {
  const person = await show(tx, wanted);
  if (!person) throw unknownPerson(wanted.userId);
  const events = await listNewest(tx, { ...wanted, limit: EVENTS_SHOWN_MAX });
  const outcomes = await listOutcomesOf(tx, { ...wanted, limit: OUTCOMES_SHOWN_MAX });
  const names = await ruleNames(tx, wanted.projectId);
  return {
    ...person,
    audiences: await listAudiencesOf(tx, wanted),
    events: events.map(toShownEvent),
    ...(await listEmailsOf(tx, wanted)),
    outcomes: outcomes.map((outcome) => toShownOutcome(outcome, names)),
  };
}

/** Lists the audiences that a user is in, by the served definition, or by the one that is being built if there is no other. */
export async function listAudiencesOf(tx: Tx, { projectId, userId }: PersonId): Promise<PersonAudience[]> {
  const model = (await loadModels(tx, [projectId])).get(projectId);
  const [standing] = await findStandings(tx, [{ projectId, userId }], { dues: false });
  return (model?.editions ?? [])
    .flatMap(({ edition, audienceId, name }) => {
      const since = standing?.members.get(edition);
      const isSeen = model?.editionFor(audienceId)?.edition === edition;
      return since && isSeen ? [{ id: audienceId, name, since: since.toISOString() }] : [];
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

export function toShownEvent(event: EventOfPerson): ShownEvent {
  return {
    id: event.id,
    name: event.name,
    properties: event.properties,
    occurred_at: event.occurred_at.toISOString(),
    accepted_at: event.accepted_at.toISOString(),
    received_at: event.received_at.toISOString(),
  };
}
