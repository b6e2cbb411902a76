import type { Victim } from './victim.ts';

export type Severity = 'high' | 'medium' | 'low';

/** A flaw in the product, or an observation that an attack could not rule out as one. */
export type Finding = { severity: Severity; title: string; evidence?: string };

/** The input of an attack: an installation to attack, and counters and notes for the report. */
export type Target = {
  /** An installation that several attacks share one after the other. No attack may break it for the next. */
  sharedVictim(): Promise<Victim>;
  /** An installation for this attack alone, with additional environment variables. */
  ownVictim(env?: Record<string, string>): Promise<Victim>;
  count(label: string, times?: number): void;
  /** Adds a note to the report. */
  note(text: string): void;
  /** A directory for the output of tools. It is deleted afterwards. */
  dir: string;
  limits: Limits;
};

export type Limits = {
  /** The total time for sqlmap. */
  sqlmapMinutes: number;
  /** The time for each parser that is fuzzed. */
  fuzzMinutes: number;
};

export type Attack = {
  id: string;
  title: string;
  passLine: string;
  /** Set for an attack that needs no external tools and finishes soon. */
  quick: boolean;
  /** Programs that the attack cannot run without. */
  needs?: string[];
  run(target: Target): Promise<Finding[]>;
};
