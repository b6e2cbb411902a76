/** What opens over a screen of the demo, and which controls lead there, one after the other. */
export type Opening = { path: string; by: string[] };

const at = (path: string, ...ways: string[]): Opening[] =>
  ways.map((way) => ({ path, by: way.split(' > ') }));

/** The first control of that name, or beginning so where it ends with `*`; `row` stands for the first row of the list. */
export const OPENINGS: Opening[] = [
  ...at('home', 'Project *', 'Account of *', 'Go to or search *', 'Account of * > Keys *', 'Pause sending'),
  ...at('review', 'Put off', 'Skip', 'More about this letter'),
  ...at('live', 'row'),
  ...at('users', 'Export', 'Views'),
  ...at('users?filter=plan:pro', 'Views > Keep this filter…'),
  ...at('events', 'row'),
  ...at('rules', 'What to do with *', 'What to do with * > Turn off…'),
  ...at('templates', 'New letter'),
  ...at('test-inbox', 'Clear'),
  ...at('replies', 'row'),
  ...at('keys', 'Create key', 'Revoke *'),
  ...at('requests', 'row'),
  ...at('webhooks', 'Add endpoint'),
  ...at('imports', 'New import'),
  ...at('domains', 'Add domain'),
  ...at('suppressions', 'Lists', 'Lists > Import a list', 'Add', 'row'),
  ...at('team', 'Invite'),
  ...at('audit', 'row'),
  ...at('users/', 'More', 'More > Send no more mail…', 'More > Erase*'),
  ...at('audiences/', 'Delete…'),
  ...at('rules/', 'Turn off…', 'Then …'),
  ...at('templates/', 'What to do with *', 'What to do with * > Delete…'),
  ...at('webhooks/', 'row', 'More', 'More > Edit…', 'More > New secret…', 'More > Delete…'),
  ...at('projects', 'New project'),
];
