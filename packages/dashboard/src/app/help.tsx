import { Group, Modal, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Shortcut, useKeyboard } from '../parts/index.ts';
import classes from './help.module.css';

/** The shortcuts that work on this page, in groups; the page's own first. */
export function Help({ opened, onClose }: { opened: boolean; onClose: () => void }): ReactNode {
  return (
    <Modal opened={opened} onClose={onClose} title="Keyboard shortcuts" size="lg">
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
      {wishes.off && <Text size="sm">Single-key shortcuts are turned off in your profile.</Text>}
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
        Change single-key shortcuts or turn them off in your profile.
      </Text>
    </Stack>
  );
}
