import { randomUUID } from 'node:crypto';
import { Fault } from '../../base/fault.ts';
import { adoptEntries } from '../../features/audit/index.ts';
import { adoptProjects, setSettings } from '../../features/projects/index.ts';
import {
  insertOrganisation,
  isSetUp,
  listProjectsOf,
  lockOrganisations,
  takeLink,
  upsertMember,
} from '../../features/team/index.ts';
import type { Database, Tx } from '../../io/db/index.ts';
import { createProjectIn } from '../create-project.ts';
import { makePerson, type NewPerson } from './make-person.ts';

export type SettingUp = {
  token: string;
  person: NewPerson;
  organisation: string;
  project: string;
  timeZone: string | null;
};

export type MadeFirst = { personId: string; organisationId: string; projectId: number };

/** The first person, their organisation and its first project, or nothing of it. Projects that are there already join it. */
export function setUp(
  db: Pick<Database, 'transaction' | 'clock'>,
  { token, person, organisation, project, timeZone }: SettingUp,
  recorded: (tx: Tx, made: MadeFirst) => Promise<void>,
): Promise<MadeFirst> {
  return db.transaction(async (tx) => {
    const now = db.clock.now();
    await lockOrganisations(tx);
    await takeLink(tx, { token, kind: 'setup' }, now);
    if (await isSetUp(tx)) {
      const message = 'This installation was set up meanwhile: sign in, or ask its owner for an invitation';
      throw new Fault('conflict', { details: [{ message }] });
    }
    const [organisationId, at] = [randomUUID(), new Date(now)];
    await insertOrganisation(tx, { id: organisationId, name: organisation, createdAt: at });
    const personId = await makePerson(tx, person, at);
    await upsertMember(tx, { organisationId, userId: personId, role: 'owner', at });
    await adoptEntries(tx, organisationId);
    const adopted =
      (await adoptProjects(tx, organisationId)) > 0 ? await listProjectsOf(tx, organisationId) : [];
    // Whoever made the project by a command already, and names it here, means that one.
    const same = adopted.find(({ name }) => name === project);
    const made = same ?? (await createProjectIn({ tx, clock: db.clock }, { name: project, organisationId }));
    if (!same && timeZone !== null) await setSettings(tx, made.id, { time_zone: timeZone });
    const first = { personId, organisationId, projectId: made.id };
    await recorded(tx, first);
    return first;
  });
}
