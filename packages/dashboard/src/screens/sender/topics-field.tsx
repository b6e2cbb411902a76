import { ActionIcon, Group, Input, Stack, TextInput } from '@mantine/core';
import { Plus, Trash2 } from 'lucide-react';
import type { ReactNode } from 'react';
import type { SettingField } from '../../parts/policy-fields.tsx';
import { printTopics, readTopics, type Topic } from '../../parts/policy-text.ts';
import { Muted } from '../../parts/muted.tsx';
import { ActButton } from '../../parts/act-button.tsx';

const TOPICS_MAX = 20;

/** The topics of emails: an id for rules, a title for recipients. */
export function TopicsField({ text, onText, fault, disabled = false }: SettingField): ReactNode {
  const topics = readTopics(text);
  const change = (at: number, to: Partial<Topic>): void =>
    onText(printTopics(topics.map((topic, n) => (n === at ? { ...topic, ...to } : topic))));
  const add = (): void => onText(printTopics([...topics, { id: nextId(topics), title: 'New topic' }]));
  return (
    <Input.Wrapper error={fault}>
      <Stack gap="xs" mb={4} align="start">
        {topics.length === 0 && <Muted>No topics. Recipients can only unsubscribe from all emails.</Muted>}
        {topics.map((topic, n) => (
          <Group key={n} gap="xs" wrap="wrap" role="group" aria-label={`Topic ${n + 1}`}>
            <TextInput
              aria-label="Id for rules"
              w={140}
              value={topic.id}
              disabled={disabled}
              onChange={({ currentTarget: { value } }) =>
                change(n, { id: value.replaceAll(/[^a-z0-9_-]/g, '') })
              }
            />
            <TextInput
              aria-label="Title for recipients"
              w={240}
              value={topic.title}
              disabled={disabled}
              onChange={({ currentTarget: { value } }) => change(n, { title: value })}
            />
            <ActionIcon
              variant="subtle"
              color="gray"
              disabled={disabled}
              aria-label={`Remove topic ${topic.title}`}
              onClick={() => onText(printTopics(topics.filter((_, other) => other !== n)))}
            >
              <Trash2 size={16} aria-hidden="true" />
            </ActionIcon>
          </Group>
        ))}
        <ActButton
          icon={Plus}
          size="compact-sm"
          disabled={disabled || topics.length >= TOPICS_MAX}
          onClick={add}
        >
          Add topic
        </ActButton>
      </Stack>
    </Input.Wrapper>
  );
}

function nextId(topics: Topic[]): string {
  const usedIds = new Set(topics.map(({ id }) => id));
  for (let n = topics.length + 1; ; n++) if (!usedIds.has(`topic-${n}`)) return `topic-${n}`;
}
