import type { Command } from 'commander';
import { findProject } from '../features/projects/index.ts';
import { pauseProject, previewResume, resumeProject, type Resumption } from '../flows/pause-project.ts';
import { EXIT_FAILED, OPERATOR, type Operator } from './operator.ts';
import { JSON_OPTION, type OutputOptions, PROJECT_OPTION, runOpened } from './run.ts';

type OfProject = { project: string } & OutputOptions;

/** What becomes of the letters; `project suspend` is about the API keys. */
export function addPauseCommands(program: Command, operator: Operator): void {
  program
    .command('pause')
    .description('have nothing leave until it is resumed; what comes in is still accepted and drafted')
    .requiredOption(...PROJECT_OPTION)
    .option(...JSON_OPTION)
    .action((options: OfProject) =>
      runOpened(operator, options, {
        work: async ({ db }) => {
          const { id, name } = await findProject(db, options.project);
          await pauseProject(db, id);
          return { id: String(id), name, paused: true };
        },
        show: ({ name }) => `Project ${name} is paused: nothing leaves`,
      }),
    );
  addResume(program, operator);
}

function addResume(program: Command, operator: Operator): void {
  program
    .command('resume')
    .description('have letters leave again: what expired is canceled, what is overdue leaves spread')
    .requiredOption(...PROJECT_OPTION)
    .option('--yes', 'though many drafts were held for more than a day')
    .option(...JSON_OPTION)
    .action((options: OfProject & { yes?: boolean }) =>
      runOpened(operator, options, {
        work: async ({ db }) => {
          const { id: projectId } = await findProject(db, options.project);
          const preview = await previewResume(db, projectId);
          const isRefused = preview.needsConfirmation && !options.yes;
          if (isRefused) operator.setExitCode(EXIT_FAILED);
          const resuming = { projectId, actor: OPERATOR, confirmed: options.yes ?? false };
          const done = isRefused ? null : await resumeProject(db, resuming);
          return { ...toShown(preview), resumed: done !== null, ...(done ?? { canceled: 0, postponed: 0 }) };
        },
        show: describe,
      }),
    );
}

function toShown({ isPaused, longHeld, needsConfirmation, ...counts }: Resumption) {
  return { was_paused: isPaused, ...counts, long_held: longHeld, needs_confirmation: needsConfirmation };
}

type Shown = ReturnType<typeof toShown> & { resumed: boolean; canceled: number; postponed: number };

function describe(shown: Shown): string {
  const { was_paused: wasPaused, open, expired, overdue, held, long_held: longHeld } = shown;
  if (!wasPaused) return 'It was not paused';
  const preview = `${open} drafts are open: ${expired} have expired, ${overdue} are overdue or soon will be, ${held} are held, ${longHeld} for more than a day`;
  const { resumed, canceled, postponed } = shown;
  const done = resumed
    ? `It is resumed: ${canceled} drafts were canceled, ${postponed} leave in a quarter of an hour at the earliest`
    : 'It is still paused: say --yes to let so many go';
  return `${preview}\n${done}`;
}
