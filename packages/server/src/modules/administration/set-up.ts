import { randomUUID } from 'node:crypto';
import { Fault } from '../../platform/fault.ts';
import {
  adoptEntries,
  adoptProjects,
  setSettings,
  insertOrganization,
  lockOrganizations,
  upsertMember,
  isSetUp,
  listProjectsOf,
  takeLink,
  makePerson,
  type NewPerson,
} from '../workspace/index.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { createProjectIn } from './create-project.ts';

export type SettingUp = {
  token: string;
  person: NewPerson;
  organization: string;
  project: string;
  timeZone: string | null;
};

export type MadeFirst = { personId: string; organizationId: string; projectId: number };

/** Creates the first member, their organization and its first project, or nothing at all. Existing projects join the organization. */
export function setUp(
  db: Pick<Database, 'transaction' | 'clock'>,
  { token, person, organization, project, timeZone }: SettingUp,
  recorded: (tx: Tx, made: MadeFirst) => Promise<void>,
): Promise<MadeFirst> {
  return db.transaction(async (tx) => {
    const now = db.clock.now();
    await lockOrganizations(tx);
    await takeLink(tx, { token, kind: 'setup' }, now);
    if (await isSetUp(tx)) {
      const message = 'This installation is already set up. Sign in, or ask its owner for an invitation';
      throw new Fault('conflict', { details: [{ message }] });
    }
    const [organizationId, at] = [randomUUID(), new Date(now)];
    await insertOrganization(tx, { id: organizationId, name: organization, createdAt: at });
    const personId = await makePerson(tx, person, at);
    await upsertMember(tx, { organizationId, userId: personId, role: 'owner', at });
    await adoptEntries(tx, organizationId);
    const adopted =
      (await adoptProjects(tx, organizationId)) > 0 ? await listProjectsOf(tx, organizationId) : [];
    // A project of this name that was created by a command before is used.
    const same = adopted.find(({ name }) => name === project);
    const made = same ?? (await createProjectIn({ tx, clock: db.clock }, { name: project, organizationId }));
    if (!same && timeZone !== null) await setSettings(tx, made.id, { time_zone: timeZone });
    const first = { personId, organizationId, projectId: made.id };
    await recorded(tx, first);
    return first;
  });
}
