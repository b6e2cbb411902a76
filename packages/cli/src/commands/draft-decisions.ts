import type { BulkAct, BulkPreview, RouteKey } from '@beckon/contract/dashboard';
import { EXIT, type ExitCode, usage } from '../failure.ts';
import type { Context } from '../framework/context.ts';
import { type Command, custom } from '../framework/declare.ts';
import { text } from '../framework/options.ts';
import { fields, tableOf } from '../output/auto.ts';
import { count } from '../output/words.ts';
import { movedView } from './draft-views.ts';

const PREVIEW = 'POST /projects/:project/drafts/bulk/preview';
const BULK = 'POST /projects/:project/drafts/bulk';

export const HASH = {
  hash: text('--hash <hash>', 'Content hash from drafts show; fails if the draft changed since'),
};
type Values = Record<string, unknown> & { reason?: string; until?: string };
type DecisionRoute = RouteKey & `POST /projects/:project/drafts/:draft/${'approve' | 'skip' | 'postpone'}`;
type Decision = {
  route: DecisionRoute;
  help: string;
  options: Command['options'];
  act: (values: Values) => BulkAct;
};

/** One draft by its id, or all that match `--filter` and `--rule`, after a preview and a confirmation. */
export function decide(verb: string, { route, help, options, act }: Decision): Command {
  return custom(`${verb} [draft]`, {
    help,
    routes: [route, PREVIEW, BULK],
    confirms: true,
    options: {
      ...options,
      ...HASH,
      rule: text('--rule <rule>', 'All drafts of this rule that wait for review'),
      filter: text('--filter <filter>', 'All drafts that wait for review and match this filter'),
    },
    async run(context, input: Values & { draft?: string; rule?: string; filter?: string }) {
      const { draft, rule, filter, ...values } = input;
      const isMany = rule !== undefined || filter !== undefined;
      if (isMany === (draft !== undefined))
        throw usage('Pass a draft ID, or --rule or --filter for several drafts', 'draft');
      if (isMany) {
        const single = ['hash', 'anyway', 'extend'].find((name) => name in values);
        if (single !== undefined) throw usage(`--${single} needs a draft ID`, `--${single}`);
        const terms = [rule && `rule:${rule}`, filter].filter(Boolean);
        return decideMany(context, act(values), terms.join(' '));
      }
      const { yes: _yes, ...body } = values;
      const { data } = await context.api.call(route, { params: { draft }, body } as never);
      return context.output.value(data, movedView);
    },
  });
}

async function decideMany(
  { api, output, confirm }: Context<typeof PREVIEW | typeof BULK>,
  act: BulkAct,
  filter: string,
): Promise<ExitCode> {
  const { data: preview } = await api.call(PREVIEW, { body: { action: act, filter } });
  if (preview.would_change === 0) {
    await output.value({ changed: [], unchanged: [], more: preview.more }, () => [
      'No matching drafts.',
      tableOf('Not changed', preview.unchanged, fields('drafts reason=message')),
    ]);
    return preview.unchanged.length === 0 ? EXIT.ok : EXIT.failed;
  }
  await output.note(previewText(act, preview));
  await confirm(`${VERBS[act.kind]} ${count(preview.would_change, 'draft')}?`);
  const { data } = await api.call(BULK, { body: { action: act, filter } });
  await output.value(data, ({ changed, unchanged, more }) => [
    `${DONE[act.kind]} ${count(changed.length, 'draft')}.${more ? ' More drafts match. Run the command again.' : ''}`,
    tableOf('Not changed', unchanged, fields('draft=id reason=message')),
  ]);
  return data.unchanged.length === 0 ? EXIT.ok : EXIT.partly;
}

const VERBS = { approve: 'Approve', skip: 'Skip', postpone: 'Postpone' };
const DONE = { approve: 'Approved', skip: 'Skipped', postpone: 'Postponed' };

function previewText({ kind }: BulkAct, preview: BulkPreview): string {
  const { drafts, more, users: people, unchanged, held_by, sends_now, rules } = preview;
  return [
    `${count(drafts, 'draft')}${more ? ', and more,' : ''} match, for ${count(people, 'user')}:`,
    ...rules.map((rule) => `  ${rule.drafts} of rule ${rule.name}`),
    ...unchanged.map((entry) => `  ${entry.drafts} cannot be changed: ${entry.message}`),
    ...(kind === 'approve' ? [`  ${sends_now} would be sent now`] : []),
    ...held_by.map((entry) => `  ${entry.drafts} would be held: ${entry.sentence}`),
  ].join('\n');
}
