import { Anchor, Stack, Tabs, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Command } from '../../parts/index.ts';
import { SNIPPETS } from './snippets.ts';

/** How a receiver verifies that a delivery is genuine. */
export function Verify(): ReactNode {
  return (
    <Stack gap="xs" component="section" aria-labelledby="verify">
      <Title order={2} size="h5" id="verify">
        Verify deliveries
      </Title>
      <Text size="sm" c="dimmed" maw={720}>
        Anyone can post to your endpoint. Verify the raw body before parsing, with the header
        X-Service-Signature and the secret. Each delivery also has the headers of{' '}
        <Anchor underline="always" href="https://www.standardwebhooks.com" target="_blank" rel="noreferrer">
          Standard Webhooks
        </Anchor>
        . A delivery may arrive more than once: store the id in the body.
      </Text>
      <Tabs defaultValue={SNIPPETS[0]?.language ?? null} keepMounted={false}>
        <Tabs.List>
          {SNIPPETS.map(({ language }) => (
            <Tabs.Tab key={language} value={language}>
              {language}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {SNIPPETS.map(({ language, code }) => (
          <Tabs.Panel key={language} value={language} pt="xs">
            <Command text={code} what={`code for ${language}`} />
          </Tabs.Panel>
        ))}
      </Tabs>
    </Stack>
  );
}
