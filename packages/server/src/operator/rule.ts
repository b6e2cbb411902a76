import type { Command } from 'commander';
import { findProject } from '../features/projects/index.ts';
import { tryEmails } from '../flows/check-rule.ts';
import { createRule } from '../flows/create-rule.ts';
import { editRule } from '../flows/edit-rule.ts';
import { moveWaiting } from '../flows/move-waiting.ts';
import { listShownRules, showRule } from '../flows/show-rules.ts';
import { disableRule, enableRule } from '../flows/switch-rule.ts';
import type { Database } from '../io/db/index.ts';
import { readJson } from './json-file.ts';
import { OPERATOR, type Operator } from './operator.ts';
import { addRuleBacktest } from './rule-backtest.ts';
import { describeRule, describeRules, describeShown, toListed, toShown } from './rule-output.ts';
import { JSON_OPTION, type OutputOptions, PROJECT_OPTION, runOpened } from './run.ts';

type OfProject = { project: string } & OutputOptions;
type OfRule = OfProject & { rule: string };

const RULE_OPTION = ['--rule <rule>', 'its id or its name'] as const;

export function addRuleCommands(program: Command, operator: Operator): void {
  const rule = program
    .command('rule')
    .description('make, change, read and switch rules: when a letter should be written, and to whom');
  addCreate(rule, operator);
  addUpdate(rule, operator);
  addList(rule, operator);
  addShow(rule, operator);
  addEnable(rule, operator);
  addDisable(rule, operator);
  addMoveWaiting(rule, operator);
  addRuleBacktest(rule, operator);
}

function addCreate(rule: Command, operator: Operator): void {
  rule
    .command('create')
    .description('make a rule, which is on from then on')
    .requiredOption(...PROJECT_OPTION)
    .requiredOption('--file <file>', 'JSON: {"name": "...", "when": {...}, "steps": [...]}')
    .option(...JSON_OPTION)
    .action((options: OfProject & { file: string }) =>
      runOpened(operator, options, {
        work: async ({ db, mailroom }) => {
          const document = await readJson(options.file);
          const { id: projectId } = await findProject(db, options.project);
          await tryEmails(mailroom.renderer, { projectId, document });
          const { id } = await createRule(db, { projectId, document });
          return findListed(db, projectId, id);
        },
        show: (made) => `Rule ${made.name} has the id ${made.id}\n\n${describeRule(made)}`,
      }),
    );
}

function addUpdate(rule: Command, operator: Operator): void {
  rule
    .command('update')
    .description('change a rule; who is under way goes on in the version in which they began')
    .requiredOption(...PROJECT_OPTION)
    .requiredOption(...RULE_OPTION)
    .requiredOption('--file <file>', 'JSON: the whole rule, of which only the name may be left out')
    .option('--include-open', 'towards autopilot: drafts that wait already get a deadline too')
    .option(...JSON_OPTION)
    .action((options: OfRule & { file: string; includeOpen?: boolean }) =>
      runOpened(operator, options, {
        work: async ({ db, mailroom }) => {
          const document = await readJson(options.file);
          const { id: projectId } = await findProject(db, options.project);
          await tryEmails(mailroom.renderer, { projectId, document });
          const { rule: reference, includeOpen = false } = options;
          const edit = { projectId, reference, document, includeOpen, actor: OPERATOR };
          const { rule: edited, drafts } = await editRule(db, edit);
          return { ...(await findListed(db, projectId, edited.id)), drafts };
        },
        show: ({ drafts, ...edited }) =>
          `Rule ${edited.name} is in version ${edited.version}; ${drafts} open drafts have another mode\n\n${describeRule(edited)}`,
      }),
    );
}

function addList(rule: Command, operator: Operator): void {
  rule
    .command('list')
    .description("list a project's rules")
    .requiredOption(...PROJECT_OPTION)
    .option(...JSON_OPTION)
    .action((options: OfProject) =>
      runOpened(operator, options, {
        work: async ({ db }) => {
          const { id: projectId } = await findProject(db, options.project);
          return (await listShownRules(db, { projectId, now: db.clock.now() })).map(toListed);
        },
        show: describeRules,
      }),
    );
}

function addShow(rule: Command, operator: Operator): void {
  rule
    .command('show')
    .description('show a rule as a document and in words, how many people are where in it, and what is odd')
    .requiredOption(...PROJECT_OPTION)
    .requiredOption(...RULE_OPTION)
    .option(...JSON_OPTION)
    .action((options: OfRule) =>
      runOpened(operator, options, {
        work: async ({ db }) => {
          const { id: projectId } = await findProject(db, options.project);
          return toShown(await showRule(db, { projectId, reference: options.rule, now: db.clock.now() }));
        },
        show: describeShown,
      }),
    );
}

function addEnable(rule: Command, operator: Operator): void {
  rule
    .command('enable')
    .description('switch a rule on: it hears of what is accepted from then on, and what it held goes on')
    .requiredOption(...PROJECT_OPTION)
    .requiredOption(...RULE_OPTION)
    .option('--yes', 'though many drafts were held for more than a day')
    .option(...JSON_OPTION)
    .action((options: OfRule & { yes?: boolean }) =>
      runOpened(operator, options, {
        work: async ({ db }) => {
          const { id: projectId } = await findProject(db, options.project);
          const wanted = { projectId, reference: options.rule, actor: OPERATOR };
          const { rule: on, ...done } = await enableRule(db, { ...wanted, confirmed: options.yes ?? false });
          return { ...(await findListed(db, projectId, on.id)), ...done };
        },
        show: ({ name, thawed, resumed, expired }) =>
          `Rule ${name} is on: ${thawed} runs and ${resumed} drafts go on, ${expired} drafts expired`,
      }),
    );
}

function addDisable(rule: Command, operator: Operator): void {
  rule
    .command('disable')
    .description('switch a rule off: its drafts and whoever is under way in it stand still')
    .requiredOption(...PROJECT_OPTION)
    .requiredOption(...RULE_OPTION)
    .option(...JSON_OPTION)
    .action((options: OfRule) =>
      runOpened(operator, options, {
        work: async ({ db }) => {
          const { id: projectId } = await findProject(db, options.project);
          const wanted = { projectId, reference: options.rule, actor: OPERATOR };
          const { rule: off, ...done } = await disableRule(db, wanted);
          return { ...(await findListed(db, projectId, off.id)), ...done };
        },
        show: ({ name, frozen, held }) =>
          `Rule ${name} is off: ${frozen} runs and ${held} drafts stand still`,
      }),
    );
}

function addMoveWaiting(rule: Command, operator: Operator): void {
  rule
    .command('move-waiting')
    .description('have people who are under way in an older version go on in the present one')
    .requiredOption(...PROJECT_OPTION)
    .requiredOption(...RULE_OPTION)
    .option(...JSON_OPTION)
    .action((options: OfRule) =>
      runOpened(operator, options, {
        work: async ({ db }) => {
          const { id: projectId } = await findProject(db, options.project);
          const { rule: to, moved, stayed } = await moveWaiting(db, { projectId, reference: options.rule });
          return { id: to.id, name: to.name, version: to.version, moved, stayed };
        },
        show: ({ name, version, moved, stayed }) => {
          const left = stayed.reduce((sum, { runs }) => sum + runs, 0);
          return `${moved} runs go on in version ${version} of ${name}; ${left} stay, because the versions differ up to where they stand`;
        },
      }),
    );
}

async function findListed(db: Database, projectId: number, id: string): Promise<ReturnType<typeof toListed>> {
  return toListed(await showRule(db, { projectId, reference: id, now: db.clock.now() }));
}
