import { createProjectIn } from './create-project.ts';
import {
  type AccountEmails,
  hashNewPassword,
  type Installation,
  type KitDeps,
  listProjectsOf,
  type NewAccount,
  readEmail,
  readName,
  routesFor,
  setUpOrganization,
  signInWith,
  type Team,
} from '../workspace/index.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { adoptProjects } from './project-store.ts';
import { writeSettings } from './write-settings.ts';

const { openRoute } = routesFor<
  KitDeps & { accountEmails: AccountEmails; installation: Installation; team: Team }
>();

/** Sets up an installation: its first member, organization and project. */
export const setUpRoutes = [
  openRoute('POST /setup', {
    audit: 'team.set_up',
    async handle(deps, request) {
      const { body, record } = request;
      const email = readEmail(body.email);
      const project = readName(body.project, 'project');
      const name = readName(body.name ?? email.slice(0, email.indexOf('@')));
      const organization = readName(body.organization ?? project, 'organization');
      const passwordHash = await hashNewPassword(deps, request);
      const input = {
        token: body.token,
        person: { name, email, passwordHash },
        organization,
        project,
        timeZone: body.time_zone ?? null,
      };
      const { projectId } = await setUp(deps.db, input, (tx, made) => {
        const by = { id: made.personId, name };
        const { organizationId } = made;
        return record(tx, { by, organizationId, subject: organization, after: { project: made.projectId } });
      });
      await signInWith(deps, request, email);
      return { data: { project_id: projectId } };
    },
  }),
];

type SetUpInput = {
  token: string;
  person: NewAccount;
  organization: string;
  project: string;
  timeZone: string | null;
};

type SetUpResult = { personId: string; organizationId: string; projectId: number };

/** Creates the first member, their organization and its first project, or nothing at all. Existing projects join the organization. */
function setUp(
  db: Pick<Database, 'transaction' | 'clock'>,
  { token, person, organization, project, timeZone }: SetUpInput,
  onCreated: (tx: Tx, made: SetUpResult) => Promise<void>,
): Promise<SetUpResult> {
  return db.transaction(async (tx) => {
    const { personId, organizationId } = await setUpOrganization(
      tx,
      { token, person, organization },
      db.clock.now(),
    );
    const adopted =
      (await adoptProjects(tx, organizationId)) > 0 ? await listProjectsOf(tx, organizationId) : [];
    // A project of this name that was created by a command before is used.
    const same = adopted.find(({ name }) => name === project);
    const made = same ?? (await createProjectIn({ tx, clock: db.clock }, { name: project, organizationId }));
    if (!same && timeZone !== null) await writeSettings(tx, made.id, { time_zone: timeZone });
    const first = { personId, organizationId, projectId: made.id };
    await onCreated(tx, first);
    return first;
  });
}
