import type { AudienceListed, AudienceMember, AudienceDetails } from '@beckon/contract/dashboard';
import { usage } from '../failure.ts';
import { call, list, lookUp, type Noun } from '../framework/declare.ts';
import { jsonFile, required, text } from '../framework/options.ts';
import { type Column, fields, tableOf } from '../output/auto.ts';
import { count } from '../output/words.ts';
import { conditionLines } from './explain.ts';

const AUDIENCE = 'GET /projects/:project/audiences/:audience';
const MEMBER: Column<AudienceMember>[] = ['external_user_id', 'since'];
const FIELDS = ['name', 'definition'];
const FILE = required(jsonFile('--file <file>', 'JSON: {"name": "…", "definition": {…}}', FIELDS));

type AudienceFile = { name?: string; definition?: unknown };

export const audiences: Noun = {
  name: 'audiences',
  help: 'Manage audiences: sets of users by traits, events and other audiences',
  commands: [
    list('GET /projects/:project/audiences', 'list', {
      isPaged: true,
      help: 'List audiences',
      row: ['id', 'name', ['state', stateOf], ...fields('members used_by definition=sentence')],
      empty: 'No audiences yet. Create one: beckon audiences create --file <file>',
    }),
    call(AUDIENCE, 'show <audience>', {
      help: 'Show an audience with its definition, growth and some members',
      view: (audience) => [
        ...summary(audience),
        JSON.stringify(audience.definition, null, 2),
        { title: 'Growth', rows: audience.growth },
        tableOf('Members', audience.sample, MEMBER),
      ],
    }),
    call('POST /projects/:project/audiences', 'create', {
      help: 'Create an audience. Its members are found in the background.',
      options: { file: FILE },
      body: ({ file }) => {
        const { name, definition }: AudienceFile = file;
        if (name === undefined || definition === undefined)
          throw usage('--file needs name and definition', '--file');
        return { name, definition };
      },
      view: (audience) => [`Created audience ${audience.name} (ID ${audience.id}).`, audience.sentence],
    }),
    call('PATCH /projects/:project/audiences/:audience', 'edit <audience>', {
      help: 'Edit the name or definition of an audience. The old members stay until the new ones are found.',
      options: { file: FILE },
      body: ({ file }): AudienceFile => file,
      view: summary,
    }),
    call('DELETE /projects/:project/audiences/:audience', 'delete <audience>', {
      help: 'Delete an audience that no rule or other audience uses',
      ...lookUp(AUDIENCE),
      confirm: (_input, { name, members }) => `Delete the audience ${name} with ${count(members, 'member')}?`,
      body: (_input, { name }) => ({ confirm: name }),
      view: (_data, _words, { found }) => `Deleted audience ${found.name}.`,
    }),
    list('GET /projects/:project/audiences/:audience/members', 'members <audience> [filter...]', {
      help: 'List the members of an audience',
      args: { filter: 'Filter terms such as email:*@example.com since:>2026-01-01' },
      isPaged: true,
      row: MEMBER,
      empty: 'This audience has no members.',
    }),
    call('POST /projects/:project/audiences/preview', 'preview', {
      help: 'Count the users that match a definition, without creating an audience',
      options: {
        file: required(jsonFile('--file <file>', 'JSON as for create; the name may be left out', FIELDS)),
        audience: text('--audience <audience>', 'Compare with this audience, by ID or name'),
      },
      body: ({ file, ...rest }) => ({ definition: file['definition'], ...rest }),
      view: (found, words) => [
        `${count(found.count, 'user')}: ${found.sentence}`,
        {
          [`until ${words.when(found.today.ends_at)}`]: `${found.today.enters} enter and ${found.today.leaves} leave by time alone`,
          edit: found.edit && `${found.edit.joins} join and ${found.edit.leaves} leave`,
          'not counted yet': found.uncounted_events,
        },
        tableOf('Users', found.sample, fields('external_user_id')),
      ],
    }),
    call('GET /projects/:project/audiences/:audience/test', 'test <audience> <user>', {
      help: 'Explain why a user is or is not in an audience',
      view: ({ external_user_id, member, explanation }, words) =>
        [
          `${external_user_id} is ${member === null ? 'not evaluated yet' : member ? 'a member' : 'not a member'}.`,
          ...conditionLines(explanation, words, 0),
        ].join('\n'),
    }),
  ],
};

const STATES = {
  building: 'finding members',
  ready: 'ready',
  rebuilding: 'finding members of the new definition',
};

function stateOf({ state, progress }: AudienceListed): string {
  return progress === null ? STATES[state] : `${STATES[state]} (${progress.built} of ${progress.users})`;
}

function summary(audience: AudienceDetails): readonly (string | { [label: string]: string | number })[] {
  const { id, name, members, sentence } = audience;
  return [{ id, name, state: stateOf(audience), members }, sentence];
}
