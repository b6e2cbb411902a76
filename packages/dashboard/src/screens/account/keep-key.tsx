import { Button, Checkbox, Modal, Stack, Text } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { Command, DialogFoot } from '../../parts/index.ts';
import { tickProps } from '../../parts/bind.ts';
import { KEY_VARIABLE } from '../../parts/sample-calls.ts';
import { Section } from '../../parts/section.tsx';

type Props = { secret: string; isStored: boolean; onStored: (isStored: boolean) => void };

/** The API key, which is shown only here. Asks before the member leaves the page without it. */
export function KeepKey({ secret, isStored, onStored }: Props): ReactNode {
  const leave = useAskBeforeLeaving(!isStored);
  const stay = (): void => leave?.(false);
  return (
    <Section
      title="Store your API key"
      text="It is shown only on this page. Your server uses it to send events."
    >
      <Stack gap="sm">
        <Command text={`${KEY_VARIABLE}=${secret}`} what="line for an .env file" />
        <Checkbox {...tickProps(isStored, onStored)} label="I stored the key where my server reads it" />
      </Stack>
      <Modal opened={leave !== null} onClose={stay} title="Leave without the API key?">
        <Stack gap="md">
          <Text size="sm">
            This key cannot be shown again. Store it first, or create another one later under API keys.
          </Text>
          <Command text={secret} what="secret" />
          <DialogFoot onCancel={stay} focusesCancel>
            <Button onClick={() => leave?.(true)}>Leave this page</Button>
          </DialogFoot>
        </Stack>
      </Modal>
    </Section>
  );
}

type Answer = (isLeaving: boolean) => void;

/** Returns the function that answers whether to leave, while the member tries to. */
function useAskBeforeLeaving(isAsked: boolean): Answer | null {
  const { history } = useRouter();
  const [answer, setAnswer] = useState<Answer | null>(null);
  useEffect(() => {
    if (!isAsked) return undefined;
    return history.block({
      enableBeforeUnload: true,
      blockerFn: () =>
        new Promise((resolve) => {
          setAnswer(() => (isLeaving: boolean) => {
            setAnswer(null);
            resolve(!isLeaving);
          });
        }),
    });
  }, [history, isAsked]);
  return answer;
}
