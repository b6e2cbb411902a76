import type { Command } from 'commander';

/** For a command below one that does something itself: options that both have commander gives to the upper one. */
export function wholeOptions<O extends object>(
  work: (options: O) => Promise<void>,
): (own: O, command: Command) => Promise<void> {
  return (_own, command) => work(command.optsWithGlobals<O>());
}
