import { Type } from 'typebox';
import {
  type AccountEmails,
  type Team,
  readEmail,
  readName,
  type KitDeps,
  type Installation,
  routesFor,
  hashNewPassword,
  LINK_TOKEN,
  signInWith,
} from '../workspace/index.ts';
import { setUp } from './set-up.ts';

const { openRoute } = routesFor<
  KitDeps & { accountEmails: AccountEmails; installation: Installation; team: Team }
>();

const TEXT = Type.String({ maxLength: 1_000 });

/** Sets up an installation: its first member, organization and project. */
export const setUpRoutes = [
  openRoute('POST /setup', {
    audit: 'team.set_up',
    body: Type.Object({
      token: LINK_TOKEN,
      email: TEXT,
      password: TEXT,
      project: TEXT,
      name: Type.Optional(TEXT),
      organization: Type.Optional(TEXT),
      time_zone: Type.Optional(TEXT),
    }),
    async handle(deps, asked) {
      const { body, record } = asked;
      const email = readEmail(body.email);
      const project = readName(body.project, 'project');
      const name = readName(body.name ?? email.slice(0, email.indexOf('@')));
      const organization = readName(body.organization ?? project, 'organization');
      const passwordHash = await hashNewPassword(deps, asked);
      const wanted = {
        token: body.token,
        person: { name, email, passwordHash },
        organization,
        project,
        timeZone: body.time_zone ?? null,
      };
      const { projectId } = await setUp(deps.db, wanted, (tx, made) => {
        const by = { id: made.personId, name };
        const { organizationId } = made;
        return record(tx, { by, organizationId, subject: organization, after: { project: made.projectId } });
      });
      await signInWith(deps, asked, email);
      return { data: { project_id: projectId } };
    },
  }),
];
