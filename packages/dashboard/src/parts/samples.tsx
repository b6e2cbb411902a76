import { ScrollArea, SegmentedControl, Stack } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { Command } from './command.tsx';
import type { SampleCall } from './sample-calls.ts';
import { SAMPLE_LANGUAGES, type SampleLanguage, sampleOf } from './sample-programs.ts';
import classes from './samples.module.css';
import { useSample } from './use-sample.ts';

export type SamplesProps = {
  calls: SampleCall[];
  /** Without it, the sample reads the key from a variable of the environment. */
  apiKey?: string;
  /** What the calls do, for screen readers: "first call". */
  what?: string;
};

const LANGUAGES = Object.entries(SAMPLE_LANGUAGES).map(([value, label]) => ({ value, label }));

/** Calls of the public API in the member's language, with a copy button. The browser keeps the language for all samples. */
export function Samples({ calls, apiKey, what = 'sample call' }: SamplesProps): ReactNode {
  const { url } = useSample();
  const [language, setLanguage] = useState(keptLanguage);
  const choose = (next: string): void => {
    setLanguage(next as SampleLanguage);
    localStorage.setItem(KEPT_AS, next);
  };
  const target = apiKey === undefined ? { url } : { url, key: apiKey };
  return (
    <Stack gap="xs" className={classes.samples}>
      <ScrollArea type="never" className={classes.languages}>
        <SegmentedControl
          size="xs"
          aria-label="Language"
          value={language}
          onChange={choose}
          data={LANGUAGES}
        />
      </ScrollArea>
      <div className={classes.code}>
        <Command text={sampleOf(language, target, calls)} what={what} />
      </div>
    </Stack>
  );
}

const KEPT_AS = 'beckon-sample-language';

function keptLanguage(): SampleLanguage {
  const kept = localStorage.getItem(KEPT_AS) ?? '';
  return Object.hasOwn(SAMPLE_LANGUAGES, kept) ? (kept as SampleLanguage) : 'curl';
}
