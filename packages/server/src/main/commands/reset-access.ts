import type { Command } from 'commander';
import { readEmail, resetAccess } from '../../modules/workspace/index.ts';
import { addCommand, withInstallation } from './command.ts';
import type { Operator } from './operator.ts';

type Options = { owner?: boolean; withoutTwoFactor?: boolean };

export function addResetAccessCommand(program: Command, operator: Operator): void {
  addCommand(program, operator, {
    name: 'reset-access',
    help: 'Print a link that lets a member sign in again; without an email address, the setup link of a new installation',
    options: (command) =>
      command
        .argument('[email]', 'Email address of the member')
        .option(
          '--owner',
          'Make the account an owner, and create it if needed. Removes two-factor authentication.',
        )
        .option('--without-two-factor', 'Remove two-factor authentication from the account'),
    work: ({ owner = false, withoutTwoFactor = false }: Options, [email]) =>
      withInstallation(operator, async ({ db, mailroom }) => {
        const { url, link } = await resetAccess(db, mailroom.outlet.publicUrl, {
          email: email === undefined ? undefined : readEmail(email),
          asOwner: owner,
          clearsTwoFactor: withoutTwoFactor,
        });
        return { url, expires_at: link.expiresAt };
      }),
    text: ({ url, expires_at }) => `${url}\n\nThe link works once, until ${expires_at.toISOString()}`,
  });
}
