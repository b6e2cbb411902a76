import { Group, Input, Stack, Switch, TagsInput, Text } from '@mantine/core';
import { Reply } from 'lucide-react';
import type { SendingState } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { Mark } from '../../parts/index.ts';
import type { SettingField } from '../../parts/policy-fields.tsx';

const OFF = 'off';
const NONE = 'none';

/** Opens and clicks, each by itself. */
export function TrackingField({ text, onText, fault, disabled = false }: SettingField): ReactNode {
  const names = text === OFF ? [] : text.split(',');
  const set = (name: string, on: boolean): void => {
    const wanted = ['opens', 'clicks'].filter((one) => (one === name ? on : names.includes(one)));
    onText(wanted.join(',') || OFF);
  };
  return (
    <Input.Wrapper error={fault}>
      <Stack gap="xs" mb={4}>
        <Switch
          label="Opens"
          description="By a small image. Many mail programs load it by machine, which is told apart."
          checked={names.includes('opens')}
          disabled={disabled}
          onChange={(event) => set('opens', event.currentTarget.checked)}
        />
        <Switch
          label="Clicks"
          description="Links lead over this installation, or over the tracking host of the domain."
          checked={names.includes('clicks')}
          disabled={disabled}
          onChange={(event) => set('clicks', event.currentTarget.checked)}
        />
      </Stack>
    </Input.Wrapper>
  );
}

/** Whether answers are heard here, and what is missing for it. */
export function RepliesState({ replies }: { replies: SendingState['replies'] }): ReactNode {
  if (replies.captured)
    return <Mark icon={Reply} tone="good" label="On: answers are read here, and handed on" />;
  const missing =
    replies.missing === 'mail_domain'
      ? 'This installation takes no mail in: MAIL_DOMAIN is not set. Answers go to the address above, and nothing of them is heard here.'
      : 'Say where answers are handed on to. Until then they go to the address above, and nothing of them is heard here.';
  return (
    <Group gap="xs">
      <Mark icon={Reply} tone="quiet" label="Off" />
      <Text size="sm">{missing}</Text>
    </Group>
  );
}

/** Who of the team is told what waits. */
export function TeamField({ text, onText, fault, disabled = false }: SettingField): ReactNode {
  return (
    <TagsInput
      label="Told besides the members"
      description="The first waiting draft at once, then at most every 15 minutes: what waits, what is held, what is in trouble."
      placeholder="ada@example.com"
      value={text === NONE ? [] : text.split(',')}
      error={fault}
      disabled={disabled}
      splitChars={[',', ' ', ';']}
      onChange={(addresses) => onText(addresses.map((one) => one.trim()).join(',') || NONE)}
    />
  );
}
