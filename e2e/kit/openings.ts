/** An overlay of a screen of the demo, and the controls that open it, one after the other. */
export type Overlay = { path: string; by: string[] };

const at = (path: string, ...clickPaths: string[]): Overlay[] =>
  clickPaths.map((clickPath) => ({ path, by: clickPath.split(' > ') }));

/** A name means the first control with it, or beginning with it if it ends with `*`. `row` is the first row of the list. */
export const OVERLAYS: Overlay[] = [
  ...at(
    'home',
    'Project *',
    'Account of *',
    'Go to or search *',
    'Account of * > Keyboard shortcuts',
    'Pause sending',
  ),
  ...at('review', 'Postpone', 'Skip', 'More actions', 'Skip all: *'),
  ...at('activity', 'row'),
  ...at('users', 'Views', 'Display'),
  ...at('users?filter=plan:pro', 'Views > Save as view…'),
  ...at('emails', 'Views', 'Display'),
  ...at('audit', 'Display'),
  ...at('events', 'row'),
  ...at('rules', 'Actions for *', 'Actions for * > Disable…', 'Display'),
  ...at('templates', 'New template'),
  ...at('test-inbox', 'Clear test inbox'),
  ...at('replies', 'row'),
  ...at('settings/api-keys', 'Create key', 'Revoke *'),
  ...at('requests', 'row'),
  ...at('webhooks', 'Add endpoint'),
  ...at('imports', 'New import'),
  ...at('settings/domains', 'Add domain'),
  ...at('suppressions', 'Lists', 'Lists > Import suppressions', 'Add suppression', 'row'),
  ...at('settings/team', 'Invite'),
  ...at('settings/audit', 'row'),
  ...at('users/', 'More', 'More > Suppress…', 'More > Erase*'),
  ...at('audiences/', 'Delete…'),
  ...at('rules/', 'Disable…', 'Email *', 'Add step *', 'Actions for *'),
  ...at('templates/', 'Actions for *', 'Actions for * > Delete…'),
  ...at('webhooks/', 'row', 'More', 'More > Edit…', 'More > New secret…', 'More > Delete…'),
  ...at('projects', 'New project'),
];
