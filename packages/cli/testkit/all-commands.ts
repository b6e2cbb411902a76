import { NOUNS, TOP_LEVEL } from '../src/commands/index.ts';

/** Every declared command, with its noun in front. */
export const ALL_COMMANDS = [
  ...TOP_LEVEL.map((command) => ({ name: command.usage, command })),
  ...NOUNS.flatMap(({ name: noun, commands }) =>
    commands.map((command) => ({ name: `${noun} ${command.usage}`, command })),
  ),
];
