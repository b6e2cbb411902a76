import { Group, Modal, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Shortcut, useKeyboard } from '../parts/index.ts';
import classes from './help.module.css';

/** The keys that mean something on this page, by who listens to them; the page's own first. */
export function Help({ opened, onClose }: { opened: boolean; onClose: () => void }): ReactNode {
  return (
    <Modal opened={opened} onClose={onClose} title="Keys of this page" size="lg">
      {opened && <Listed />}
    </Modal>
  );
}

function Listed(): ReactNode {
  const { listed, wishes } = useKeyboard();
  const groups = new Map<string, [string, string][]>();
  for (const { title, keys } of listed().toReversed()) {
    const held = groups.get(title) ?? [];
    groups.set(title, [
      ...held,
      ...Object.entries(keys).map(([key, { label }]): [string, string] => [key, label]),
    ]);
  }
  return (
    <Stack gap="lg">
      {wishes.off && <Text size="sm">Single-letter keys are switched off in your profile.</Text>}
      {[...groups].map(([title, keys]) => (
        <section key={title}>
          <Title order={3} size="h6" mb="xs">
            {title}
          </Title>
          <dl className={classes.keys}>
            {keys.map(([key, label]) => (
              <Group key={key} justify="space-between" wrap="nowrap" gap="sm">
                <dd>{label}</dd>
                <dt>
                  <Shortcut keys={wishes.instead[key] ?? key} />
                </dt>
              </Group>
            ))}
          </dl>
        </section>
      ))}
      <Text size="xs" c="dimmed">
        Your profile has a switch for single-letter keys, and lets you choose others.
      </Text>
    </Stack>
  );
}
