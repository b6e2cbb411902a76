import type { AuditListed } from '@beckon/contract/dashboard';
import { download, list, type Noun } from '../framework/declare.ts';
import { flag, text } from '../framework/options.ts';

const FILTERS = {
  actor: text('--actor <actor>', 'Only changes by this actor, such as team:<member ID>'),
  action: text('--action <prefix>', 'Only actions that begin with this, such as draft.'),
  scope: {
    ...flag('--project-only', 'Only changes in the project (default: its whole organization)'),
    read: (value: true | undefined) => (value ? ('project' as const) : undefined),
  },
};

export const audit: Noun = {
  name: 'audit',
  help: 'List and export the audit log',
  commands: [
    list('GET /projects/:project/audit', 'list', {
      help: 'List changes and exports with who made them, newest first',
      isPaged: true,
      options: FILTERS,
      row: [
        'at',
        ['who', ({ actor_name: name, token }) => (token === null ? name : `${name} (token ${token})`)],
        ['action', ({ action, completed }) => (completed ? action : `${action} (outcome unknown)`)],
        'subject',
        ['change', changeOf],
        'project',
      ],
      empty: 'No changes yet. Everything that members change is recorded here.',
    }),
    download('GET /projects/:project/audit.csv', 'export', {
      help: 'Export the audit log as CSV',
      options: FILTERS,
    }),
  ],
};

function changeOf({ before, after }: AuditListed): string | null {
  const old = before == null ? null : JSON.stringify(before);
  const now = after == null ? null : JSON.stringify(after);
  return old === null ? now : `${old} → ${now ?? 'none'}`;
}
