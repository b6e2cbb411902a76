import { randomUUID } from 'node:crypto';
import { type Command, Option } from 'commander';
import { type Role, ROLES } from '@beckon/contract/dashboard';
import { insertOrganization, listMembers } from '../features/team/index.ts';
import {
  inviteByOperator,
  type Offered,
  offerOwnership,
  readEmail,
  readName,
  removeByOperator,
  requireOrganization,
  resetByOperator,
  setRoleByOperator,
} from '../flows/team/index.ts';
import type { Opened, Operator } from './operator.ts';
import { JSON_OPTION, ORGANIZATION_OPTION, type OutputOptions, runOpened } from './run.ts';
import { table } from './table.ts';

const EMAIL_OPTION = ['--email <address>', 'whom it is about'] as const;
const roleOption = (): Option =>
  new Option('--role <role>', 'what they may do').choices(ROLES).makeOptionMandatory();

type OfSomebody = { email: string; org?: string } & OutputOptions;

/** Whoever owns the machine lets people in, and back in: nobody is locked out for good. */
export function addTeamCommands(program: Command, operator: Operator): void {
  const team = program.command('team').description('those who sign in to the dashboard');
  addLinks(team, operator);
  addMembers(team, operator);
}

function addLinks(team: Command, operator: Operator): void {
  addOffer<{ owner?: string }>(team, operator, {
    name: 'setup-link',
    description: 'the link by which the first owner signs up',
    options: (command) =>
      command.option('--owner <address>', 'where there are owners: a link that makes this person one more'),
    offer: ({ db, mailroom }, { owner }) =>
      offerOwnership(db, mailroom.outlet.publicUrl, owner === undefined ? undefined : readEmail(owner)),
  });
  addOffer<{ email: string; role: Role; org?: string }>(team, operator, {
    name: 'invite',
    description: 'a link by which somebody joins',
    options: (command) =>
      command
        .requiredOption(...EMAIL_OPTION)
        .addOption(roleOption())
        .option(...ORGANIZATION_OPTION),
    offer: ({ db, mailroom }, { email, role, org }) =>
      inviteByOperator(db, mailroom.outlet.publicUrl, {
        email: readEmail(email),
        role,
        ...(org === undefined ? {} : { organization: org }),
      }),
  });
  addOffer<{ email: string; withoutTwoFactor?: boolean }>(team, operator, {
    name: 'reset-link',
    description: 'a link by which somebody chooses a new password',
    options: (command) =>
      command
        .requiredOption(...EMAIL_OPTION)
        .option(
          '--without-two-factor',
          'they lost their authenticator app too: it is taken off their account',
        ),
    offer: ({ db, mailroom }, { email, withoutTwoFactor = false }) =>
      resetByOperator(db, mailroom.outlet.publicUrl, {
        email: readEmail(email),
        clearsTwoFactor: withoutTwoFactor,
      }),
  });
}

type Offer<O> = {
  name: string;
  description: string;
  options: (command: Command) => Command;
  offer: (opened: Opened, options: O) => Promise<Offered>;
};

function addOffer<O>(
  team: Command,
  operator: Operator,
  { name, description, options, offer }: Offer<O>,
): void {
  options(team.command(name).description(description))
    .option(...JSON_OPTION)
    .action((given: O & OutputOptions) =>
      runOpened(operator, given, {
        work: async (opened) => {
          const { url, link } = await offer(opened, given);
          return { url, expires_at: link.expiresAt };
        },
        show: ({ url, expires_at }) => `${url}\n\nIt works once, until ${expires_at.toISOString()}`,
      }),
    );
}

function addMembers(team: Command, operator: Operator): void {
  team
    .command('list')
    .description('list the members of an organization')
    .option(...ORGANIZATION_OPTION)
    .option(...JSON_OPTION)
    .action((options: { org?: string } & OutputOptions) =>
      runOpened(operator, options, {
        work: async ({ db }) => {
          const { id } = await requireOrganization(db, options.org);
          return (await listMembers(db, id)).map(toShown);
        },
        show: (rows) => table(rows, 'Nobody is in it yet: team invite makes a link'),
      }),
    );
  team
    .command('role')
    .description('change what a member may do')
    .requiredOption(...EMAIL_OPTION)
    .addOption(roleOption())
    .option(...ORGANIZATION_OPTION)
    .option(...JSON_OPTION)
    .action((options: OfSomebody & { role: Role }) =>
      runOpened(operator, options, {
        work: async ({ db }) =>
          toShown(await setRoleByOperator(db, { ...meantBy(options), role: options.role })),
        show: ({ email, role }) => `${email} is ${role} now`,
      }),
    );
  team
    .command('remove')
    .description('take a member out, and end their sessions')
    .requiredOption(...EMAIL_OPTION)
    .option(...ORGANIZATION_OPTION)
    .option(...JSON_OPTION)
    .action((options: OfSomebody) =>
      runOpened(operator, options, {
        work: async ({ db }) => toShown(await removeByOperator(db, meantBy(options))),
        show: ({ email }) => `${email} is no member any more`,
      }),
    );
  team
    .command('add-organization')
    .description('make an organization beside the first one')
    .requiredOption('--name <name>', 'what people call it')
    .option(...JSON_OPTION)
    .action((options: { name: string } & OutputOptions) =>
      runOpened(operator, options, {
        work: async ({ db }) => {
          const row = { id: randomUUID(), name: readName(options.name), createdAt: new Date(db.clock.now()) };
          await insertOrganization(db, row);
          return { id: row.id, name: row.name };
        },
        show: ({ name }) => `${name} is there: team invite --org "${name}" --role owner lets somebody in`,
      }),
    );
}

function meantBy({ email, org }: OfSomebody): { email: string; organization?: string } {
  return { email: readEmail(email), ...(org === undefined ? {} : { organization: org }) };
}

function toShown(member: Awaited<ReturnType<typeof listMembers>>[number]) {
  const { email, name, role, twoFactor, joinedAt, lastSeenAt } = member;
  return { email, name, role, two_factor: twoFactor, joined_at: joinedAt, last_seen_at: lastSeenAt };
}
