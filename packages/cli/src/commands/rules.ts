import type { RuleMode } from '@beckon/contract/dashboard';
import { BACKTEST, backtest } from '../api/backtest.ts';
import { EXIT, usage } from '../failure.ts';
import { call, custom, list, lookUp, type Noun } from '../framework/declare.ts';
import { duration, fallback, flag, jsonFile, oneOf, required, text, whole } from '../framework/options.ts';
import { fields, tableOf, viewOf } from '../output/auto.ts';
import { count } from '../output/words.ts';
import {
  backtestView,
  hintLines,
  RULE_ROW,
  ruleView,
  disableQuestion,
  enableQuestion,
  enrollmentStarted,
  enrollmentText,
} from './rule-views.ts';

const RULE = 'GET /projects/:project/rules/:rule';
const ENROLLMENT = 'GET /projects/:project/rules/:rule/enrollment';
const ENROLL = 'POST /projects/:project/rules/:rule/enrollment';
const SWITCH = 'GET /projects/:project/rules/:rule/switch';
const MOVE_WAITING = 'GET /projects/:project/rules/:rule/move-waiting';
const DAYS_MAX = 366;
const MODES: RuleMode[] = ['draft', 'autopilot'];

const FILE = required(jsonFile('--file <file>', 'Rule as JSON: {"name": "…", "when": {…}, "steps": […]}'));
const INCLUDE_OPEN = flag('--include-open', 'Also change open drafts without edits');

export const rules: Noun = {
  name: 'rules',
  help: 'Manage rules, which decide who gets an email',
  commands: [
    list('GET /projects/:project/rules', 'list [filter...]', {
      help: 'List rules by priority',
      args: { filter: 'Filter terms such as state:enabled event:trial_started template:welcome active:no' },
      isPaged: true,
      csv: 'GET /projects/:project/rules.csv',
      row: RULE_ROW,
      empty: 'No rules yet. Create one: beckon rules create --file <file>',
    }),
    call(RULE, 'show <rule>', {
      help: 'Show a rule with its definition, active runs and warnings',
      view: ruleView,
    }),
    call('POST /projects/:project/rules/check', 'check', {
      help: 'Check a rule without saving it',
      options: { document: FILE, rule: text('--rule <rule>', 'Compare with this saved rule, by ID or name') },
      view: (found) => [
        found.sentence,
        { title: 'Errors', rows: found.faults },
        hintLines(found.warnings),
        found.sentence_before === null || !found.new_version
          ? null
          : `Saving creates a new version. Now: ${found.sentence_before}`,
      ],
      exit: ({ faults }) => (faults.length === 0 ? EXIT.ok : EXIT.usage),
    }),
    call('POST /projects/:project/rules', 'create', {
      help: 'Create a rule. It is disabled until you enable it.',
      options: { file: FILE },
      body: ({ file }) => ({ document: file }),
      view: (rule) => [
        `Created rule ${rule.name} (ID ${rule.id}), disabled.`,
        rule.sentence,
        hintLines(rule.warnings),
      ],
    }),
    call('PUT /projects/:project/rules/:rule', 'edit <rule>', {
      help: 'Replace the definition of a rule. Active runs continue in the version in which they began.',
      options: { file: FILE, include_open: INCLUDE_OPEN },
      ...lookUp(RULE),
      body: ({ file, include_open }, { name, updated_at }) => ({
        document: { name, ...file },
        updated_at,
        ...(include_open ? { include_open } : {}),
      }),
      view: ({ rule, drafts }) => [
        `Rule ${rule.name} is at version ${rule.version}. ${count(drafts, 'open draft')} changed.`,
        rule.sentence,
        hintLines(rule.warnings),
      ],
    }),
    call('POST /projects/:project/rules/:rule/switch', 'enable <rule>', {
      help: 'Enable a rule. It evaluates what is accepted from now on, and held drafts and runs continue.',
      options: {
        enroll: flag('--enroll', 'Also enroll the users who are in its audiences now, after a preview'),
      },
      reads: [SWITCH, ENROLLMENT],
      find: async ({ api }, { rule, enroll }) => ({
        switched: (await api.call(SWITCH, { params: { rule } })).data,
        preview: enroll ? (await api.call(ENROLLMENT, { params: { rule } })).data : undefined,
      }),
      confirm: ({ rule }, { switched, preview }) => enableQuestion(rule, switched.long_held, preview),
      body: ({ enroll }, { switched }) => ({
        on: true,
        ...(switched.long_held === 0 ? {} : { confirmed: true }),
        ...(enroll && { enroll }),
      }),
      view: ({ rule, drafts, runs, expired, enrollment }) => [
        `Enabled rule ${rule.name}. ${count(runs, 'run')} and ${count(drafts, 'draft')} continue; ${count(expired, 'draft')} expired.`,
        enrollment && enrollmentStarted(rule.name, enrollment),
      ],
    }),
    call('POST /projects/:project/rules/:rule/switch', 'disable <rule>', {
      help: 'Disable a rule. Its drafts and runs are held until it is enabled.',
      ...lookUp(SWITCH),
      confirm: ({ rule }, preview) => disableQuestion(rule, preview),
      body: () => ({ on: false }),
      view: ({ rule, drafts, runs }) =>
        `Disabled rule ${rule.name}. ${count(runs, 'run')} and ${count(drafts, 'draft')} are held.`,
    }),
    custom('enroll <rule>', {
      help: 'Enroll the users who are in the audiences of an enabled rule now, after a preview',
      routes: [ENROLLMENT, ENROLL],
      confirms: true,
      options: { dry_run: flag('--dry-run', 'Only print the preview; the rule may be disabled') },
      async run({ api, output, confirm }, { rule, dry_run }) {
        const preview = (await api.call(ENROLLMENT, { params: { rule } })).data;
        const summary = enrollmentText(rule, preview);
        if (dry_run) return output.value(preview, () => summary);
        await confirm(`${summary}\nEnroll them?`);
        const { data } = await api.call(ENROLL, { params: { rule } });
        await output.value(data, () => enrollmentStarted(rule, data));
      },
    }),
    custom('backtest [rule]', {
      help: 'Run a rule over stored events, without creating anything',
      routes: [BACKTEST],
      options: {
        file: jsonFile(
          '--file <file>',
          'An unsaved rule as JSON. If its name is that of a saved rule, the two are compared.',
        ),
        since: fallback(duration('--since <duration>', 'How far back, in days; at most 366d', 'd'), '30d'),
      },
      async run({ api, output, signal }, { rule, file, since: days }) {
        if ((rule === undefined) === (file === undefined))
          throw usage('Pass a saved rule, or --file for an unsaved one', 'rule');
        if (days < 1 || days > DAYS_MAX) throw usage('--since must be from 1d to 366d', '--since');
        const found = await backtest(api, {
          body: { days, ...(rule !== undefined && { rule }), ...(file && { document: file }) },
          signal,
          onProgress: (share) =>
            output.progress(`Evaluating ${count(days, 'day')} … ${Math.round(share * 100)}%`),
        });
        await output.value(found, backtestView);
      },
    }),
    call('POST /projects/:project/rules/:rule/mode', 'set-mode <rule> <mode>', {
      help: 'Set the mode of a rule: draft waits for approval, autopilot sends at the deadline',
      args: { mode: 'draft or autopilot' },
      options: {
        deadline: text(
          '--deadline <duration>',
          "Time to review, such as 4h; default uses the project's setting",
          (value) => (value === 'default' ? null : value),
        ),
        include_open: INCLUDE_OPEN,
      },
      body: ({ rule: _rule, mode, ...options }) => ({ mode: oneOf(mode, MODES, 'mode'), ...options }),
      view: ({ rule, drafts }) =>
        `Rule ${rule.name} is in mode ${rule.mode}. ${count(drafts, 'open draft')} changed.`,
    }),
    call('POST /projects/:project/rules/:rule/reorder', 'reorder <rule>', {
      help: 'Move a rule in the order of priority',
      options: {
        before: text('--before <rule>', 'Rule that follows it, by ID or name; default: move to the end'),
      },
      body: ({ before }) => ({ before: before ?? null }),
      view: ({ changed }) =>
        tableOf(
          { title: 'Changed order', empty: 'The order is unchanged.' },
          changed,
          fields('rule=name priority'),
        ),
    }),
    call('POST /projects/:project/rules/:rule/duplicate', 'duplicate <rule>', {
      help: 'Create a disabled copy of a rule',
      options: { name: text('--name <name>', 'Name of the copy') },
      view: ({ id, name }) => `Created rule ${name} (ID ${id}), disabled.`,
    }),
    list('GET /projects/:project/rules/:rule/versions', 'versions <rule>', {
      help: 'List the versions of a rule',
      row: fields('version is_present created_at created_by runs sentence'),
      empty: 'No versions.',
    }),
    call('GET /projects/:project/rules/:rule/results', 'results <rule>', {
      help: 'Show the results of a rule: funnel, outcomes, holdout and why users were not enrolled',
      options: { days: whole('--days <count>', 'How many days back (default: 30)', [1, DAYS_MAX]) },
      view: fields(
        'since has_goal holdout_percent bounced complained unsubscribed replied funnel drafts lift excluded',
      ),
    }),
    call('GET /projects/:project/rules/:rule/flow', 'flow <rule>', {
      help: 'Show the steps of a rule, with the users at each and how many passed it',
      options: { days: whole('--days <count>', 'How many days back (default: 30)', [1, DAYS_MAX]) },
      view: (flow) => [
        viewOf(flow, fields('version since enrolled holdout goal in_older_versions ended excluded')),
        tableOf('Steps', flow.steps, [
          'step=at',
          ['what', ({ path }) => `${'· '.repeat(branchDepth(path))}${flow.labels[path] ?? path}`],
          ...fields('active paused'),
          ['passed', ({ passed, at_least }) => (at_least ? `${passed} or more` : passed)],
          'ended',
        ]),
      ],
    }),
    list('GET /projects/:project/rules/:rule/runs', 'runs <rule> [filter...]', {
      help: 'List the active runs of a rule',
      args: { filter: 'Filter terms such as user:user_42 state:paused enrolled:>2026-01-01' },
      isPaged: true,
      options: {
        version: whole('--version-number <number>', 'Only runs in this version', [1, 1_000_000]),
        step: whole('--step <number>', 'Only runs at this step', [0, 10_000]),
      },
      row: [
        ...fields('external_user_id state'),
        ['step', ({ step }) => step.label],
        ...fields('waits_for next_at enrolled_at trigger version'),
      ],
      empty: 'No active runs.',
    }),
    call('POST /projects/:project/rules/:rule/move-waiting', 'move-waiting <rule>', {
      help: 'Move runs of older versions to the current version',
      ...lookUp(MOVE_WAITING),
      confirm: ({ rule }, { moved, version }) =>
        moved === 0 ? null : `Move ${count(moved, 'run')} of ${rule} to version ${version}?`,
      view: ({ version, moved, stayed }) => [
        `Moved ${count(moved, 'run')} to version ${version}.`,
        {
          title: 'Not moved, because the versions differ before their step',
          rows: stayed,
        },
      ],
    }),
    call('GET /projects/:project/rules/:rule/edits', 'recurring-edits <rule>', {
      help: 'Show recurring edits that reviewers make in drafts of a rule',
      view: ({ drafts, edited, changes }) => [
        `${edited} of the newest ${count(drafts, 'draft')} were edited.`,
        tableOf(
          { title: 'Recurring edits', empty: 'No recurring edits.' },
          changes,
          fields('template part change=sentence before after'),
        ),
      ],
    }),
  ],
};

/** How many branches contain the step at this path. */
function branchDepth(path: string): number {
  return path.split('.').filter((part) => part === 'then' || part === 'else').length;
}
