import type { AuditListed } from '@beckon/contract/dashboard';
import { download, list, type Noun } from '../framework/declare.ts';
import { flag, text } from '../framework/options.ts';

const FILTERS = {
  actor: text('--actor <actor>', 'Only changes by this actor, such as team:<member ID>'),
  action: text('--action <prefix>', 'Only actions that begin with this, such as draft.'),
  project_only: flag('--project-only', 'Only changes in the project (default: its whole organization)'),
};

export const audit: Noun = {
  name: 'audit',
  help: 'List and export the audit log',
  commands: [
    list('GET /projects/:project/audit', 'list', {
      help: 'List changes and exports with who made them, newest first',
      isPaged: true,
      options: FILTERS,
      query: queryOf,
      row: (entry, { when }) => ({
        time: when(entry.at),
        who: entry.token === null ? entry.actor_name : `${entry.actor_name} (token ${entry.token})`,
        action: entry.is_done ? entry.action : `${entry.action} (outcome unknown)`,
        subject: entry.subject,
        change: changeOf(entry),
        project: entry.project?.name,
      }),
      empty: 'No changes yet. Everything that members change is recorded here.',
    }),
    download('GET /projects/:project/audit.csv', 'export', {
      help: 'Export the audit log as CSV',
      options: FILTERS,
      query: queryOf,
    }),
  ],
};

type Filters = { actor?: string; action?: string; project_only?: true };

function queryOf({ actor, action, project_only }: Filters) {
  return {
    ...(actor === undefined ? {} : { actor }),
    ...(action === undefined ? {} : { action }),
    ...(project_only ? { of: 'project' as const } : {}),
  };
}

function changeOf({ before, after }: AuditListed): string | null {
  const old = before == null ? null : JSON.stringify(before);
  const now = after == null ? null : JSON.stringify(after);
  return old === null ? now : `${old} → ${now ?? 'none'}`;
}
