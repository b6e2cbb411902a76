import { ROLES } from '@beckon/contract/dashboard';
import { call, list, type Noun } from '../framework/declare.ts';
import { fields } from '../output/auto.ts';
import { choice, required } from '../framework/options.ts';

const MEMBER = { member: 'Email address or member ID' };
const ROLE = required(choice('--role <role>', 'Role in the organization', ROLES));

export const members: Noun = {
  name: 'members',
  help: "Manage the members of a project's organization",
  commands: [
    list('GET /projects/:project/members', 'list [filter...]', {
      help: 'List members with their roles',
      args: { filter: 'Filter terms such as role:admin two_factor:no' },
      isPaged: true,
      row: fields('email name role two_factor joined_at last_seen_at is_you'),
      empty: 'No members yet. Invite one: beckon members invite <email> --role owner',
    }),
    call('POST /projects/:project/invites', 'invite <email>', {
      help: 'Invite a member and print the link once',
      args: { email: 'Email address' },
      options: { role: ROLE },
      view: ({ email, link, expires_at, emailed: mailed }, { when }) => [
        mailed
          ? `Invited ${email} by email. The link works once, until ${when(expires_at)}:`
          : `Invited ${email}. No email was sent. Send them this link; it works once, until ${when(expires_at)}:`,
        link,
      ],
    }),
    list('GET /projects/:project/invites', 'invites', {
      help: 'List open invitations',
      row: fields('id email role invited_by=by invited=created_at expires_at'),
      empty: 'No open invitations. Invite a member: beckon members invite <email> --role <role>',
    }),
    call('POST /projects/:project/invites/:invite/revoke', 'revoke-invite <invite>', {
      help: 'Revoke an invitation. Its link no longer works.',
      args: { invite: 'Invited email address or invitation ID' },
      view: (_data, _words, { input }) => `Revoked the invitation of ${input.invite}.`,
    }),
    call('POST /projects/:project/members/:member/role', 'set-role <member>', {
      help: 'Set the role of a member',
      args: MEMBER,
      options: { role: ROLE },
      view: ({ email, role }) => `${email} has the role ${role}.`,
    }),
    call('POST /projects/:project/members/:member/remove', 'remove <member>', {
      help: 'Remove a member from the organization and end their sessions',
      args: MEMBER,
      confirm: ({ member }) => `Remove ${member} from the organization?`,
      view: (_data, _words, { input }) => `Removed ${input.member}.`,
    }),
  ],
};
