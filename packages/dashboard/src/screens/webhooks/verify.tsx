import { Anchor } from '@mantine/core';
import type { ReactNode } from 'react';
import { Command } from '../../parts/index.ts';
import { SNIPPETS } from './snippets.ts';
import { TabPages } from '../../parts/tab-pages.tsx';
import { Titled } from '../../parts/titled.tsx';
import { Muted } from '../../parts/muted.tsx';

/** How a receiver verifies that a delivery is genuine. */
export function Verify(): ReactNode {
  return (
    <Titled id="verify" title="Verify deliveries">
      <Muted maw={720}>
        Anyone can post to your endpoint. Verify the raw body before parsing, with the header
        X-Service-Signature and the secret. Each delivery also has the headers of{' '}
        <Anchor underline="always" href="https://www.standardwebhooks.com" target="_blank" rel="noreferrer">
          Standard Webhooks
        </Anchor>
        . A delivery may arrive more than once: store the id in the body.
      </Muted>
      <TabPages
        pages={SNIPPETS.map(({ language, code }) => ({
          value: language,
          label: language,
          content: <Command text={code} what={`code for ${language}`} />,
        }))}
      />
    </Titled>
  );
}
