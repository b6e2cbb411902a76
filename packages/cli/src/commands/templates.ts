import type { TemplateListed, TemplatePublished } from '@beckon/contract/dashboard';
import { EXIT } from '../failure.ts';
import { call, list, lookUp, type Noun } from '../framework/declare.ts';
import { emailFile } from '../framework/email-file.ts';
import { flag, required, text, time } from '../framework/options.ts';
import type { View } from '../output/view.ts';
import { count } from '../output/words.ts';
import { fields } from '../output/auto.ts';

const TEMPLATE = 'GET /projects/:project/templates/:template';
const FILE = emailFile();
const FOLLOW = flag('--update-drafts', 'Also update open drafts without edits');
const UNPUBLISHED = flag('--unpublished', 'The saved unpublished version instead of the published one');

export const templates: Noun = {
  name: 'templates',
  help: 'Write, preview, test and publish email templates',
  commands: [
    list('GET /projects/:project/templates', 'list', {
      isPaged: true,
      help: 'List templates, including built-in ones',
      row: [
        ...fields('name version'),
        ['source', sourceOf],
        ...fields('subject used_by unpublished_version=has_unpublished updated_at'),
      ],
      empty: 'No templates yet. Create one: beckon templates create <name> --file <file>',
    }),
    call(TEMPLATE, 'show <template>', {
      help: 'Show a template with its variables and versions',
      view: fields(
        'name version is_shipped used_by updated_at open_untouched published unpublished variables versions',
      ),
    }),
    call('POST /projects/:project/templates', 'create <name>', {
      help: 'Create and publish a template. The name of a built-in template replaces it.',
      args: { name: 'Name by which rules use it' },
      options: { source: required(FILE), follow: FOLLOW },
      view: publishedView,
    }),
    call('PUT /projects/:project/templates/:template/unpublished', 'save <template>', {
      help: 'Save an unpublished version of a template. No email uses it until it is published.',
      options: { file: required(FILE) },
      ...lookUp(TEMPLATE),
      confirm: (_input, { unpublished }) =>
        unpublished === null ? null : `Replace the unpublished version saved by ${unpublished.saved_by}?`,
      body: ({ file: source }, { unpublished }) => ({ source, seen: unpublished?.saved_at ?? null }),
      view: ({ name }) => `Saved. Publish it: beckon templates publish ${name}`,
    }),
    call('DELETE /projects/:project/templates/:template/unpublished', 'discard <template>', {
      help: 'Discard the unpublished version of a template',
      confirm: ({ template }) => `Discard the unpublished version of ${template}?`,
      view: ({ name }) => `Discarded the unpublished version of ${name}.`,
    }),
    call('POST /projects/:project/templates/:template/publish', 'publish <template>', {
      help: 'Publish the saved version of a template, or a file',
      options: { source: FILE, follow: FOLLOW },
      view: publishedView,
    }),
    call('POST /projects/:project/templates/:template/preview', 'preview <template>', {
      help: 'Render a template for a user, with its checks',
      options: {
        source: FILE,
        unpublished: UNPUBLISHED,
        user: text('--user <user>', 'User ID; default: a sample user'),
        at: time('--at <time>', 'With what was known of the user at this time', 'back'),
      },
      view: fields('external_user_id event subject preheader missing uncertain bytes text faults checks'),
      exit: ({ faults }) => (faults.length === 0 ? EXIT.ok : EXIT.usage),
    }),
    call('POST /projects/:project/templates/:template/send-test', 'send-test <template>', {
      help: 'Send a template, rendered for a sample user, to a member',
      options: {
        to: text('--to <address>', 'Address of a member or in team_addresses (default: yours)'),
        source: FILE,
        unpublished: UNPUBLISHED,
      },
      view: ({ to, subject, reply }) => `Sent “${subject}” to ${to}: ${reply}`,
    }),
    call('DELETE /projects/:project/templates/:template', 'delete <template>', {
      help: 'Delete a template with all versions. A built-in template with its name is used again.',
      confirm: ({ template }) => `Delete the template ${template} with all its versions?`,
      view: ({ drafts }, _words, { input }) =>
        `Deleted template ${input.template}. ${count(drafts, 'open draft')} changed.`,
    }),
  ],
};

function sourceOf({ version, is_shipped }: TemplateListed): string {
  if (version === null) return 'built-in';
  return is_shipped ? 'own, replaces built-in' : 'own';
}

function publishedView({ template, drafts }: TemplatePublished): View {
  return `Published version ${template.version} of ${template.name}. ${count(drafts, 'open draft')} updated.`;
}
