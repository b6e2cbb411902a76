import { Input, Modal, Text, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useApi, useChange, useProject } from '../../api/index.ts';
import { firstCalls, KEY_VARIABLE } from '../../parts/sample-calls.ts';
import { Samples } from '../../parts/samples.tsx';
import { SecretOnce, useSecretOnce } from '../../parts/secret-once.tsx';
import { useSample } from '../../parts/use-sample.ts';
import { DialogAction } from '../../parts/dialog-action.tsx';
import { Form } from '../../parts/form.tsx';
import { Segments } from '../../parts/segments.tsx';
import { textProps } from '../../parts/bind.ts';

export function CreateKey({ opened, onClose }: { opened: boolean; onClose: () => void }): ReactNode {
  const { secret, show, close } = useSecretOnce(onClose);
  return (
    <>
      <Modal opened={opened && secret === null} onClose={onClose} title="Create API key">
        <KeyForm onClose={onClose} onMade={show} />
      </Modal>
      <SecretOnce title="Your new API key" secret={secret} variable={KEY_VARIABLE} onClose={close}>
        {secret !== null && <FirstCalls secret={secret} />}
      </SecretOnce>
    </>
  );
}

/** Includes the key: the sample works anywhere. The user is new, because the welcome rule enrolls each user once. */
function FirstCalls({ secret }: { secret: string }): ReactNode {
  const { email, newUser } = useSample();
  return (
    <>
      <Text size="sm">
        Run this on your server. It creates a user with your address and a sign-up event. A welcome email is
        drafted and waits in Review.
      </Text>
      <Samples calls={firstCalls({ user: newUser, email })} apiKey={secret} what="first call" />
    </>
  );
}

type FormProps = { onClose: () => void; onMade: (secret: string) => void };

function KeyForm({ onClose, onMade }: FormProps): ReactNode {
  const [label, setLabel] = useState('');
  const [env, setEnv] = useState<Env>('live');
  const { livemode } = useProject();
  const isOpen = useSandboxIsOpen();
  const create = useChange('POST /projects/:project/keys', {
    refreshes: ['GET /projects/:project/keys', 'GET /projects/:project/home'],
    onDone: ({ data }) => onMade(data.secret),
  });
  const submit = (): void => {
    const body = { label: label.trim(), ...(livemode ? { env } : {}) };
    create.mutate({ body });
  };
  const fault = create.error?.fields['label'];
  return (
    <Form onSubmit={submit}>
      <TextInput
        data-autofocus
        label="Label"
        description="Name the server that uses this key"
        placeholder="Production, checkout"
        {...textProps(label, setLabel)}
        error={fault}
        maxLength={100}
      />
      {livemode && <EnvField env={env} isOpen={isOpen} onEnv={setEnv} />}
      <DialogAction
        change={create}
        fields={['label']}
        onCancel={onClose}
        disabled={label.trim() === '' || (env === 'test' && !isOpen)}
      >
        Create key
      </DialogAction>
    </Form>
  );
}

type Env = 'live' | 'test';

/** True if this project has an active sandbox. */
function useSandboxIsOpen(): boolean {
  const { id } = useProject();
  const projects = useApi('GET /projects', {});
  return projects.data?.data.some((project) => project.sandbox_of === id) ?? false;
}

type EnvProps = { env: Env; isOpen: boolean; onEnv: (env: Env) => void };

function EnvField({ env, isOpen, onEnv }: EnvProps): ReactNode {
  return (
    <Input.Wrapper
      label="Environment"
      description={
        env === 'live'
          ? 'Real users, who get real emails'
          : isOpen
            ? 'Separate data. No email leaves this machine, and you control the clock.'
            : 'This project has no active sandbox. Turn it on below the list of keys first.'
      }
      inputWrapperOrder={['label', 'input', 'description']}
    >
      <Segments
        size="sm"
        fullWidth
        label="Environment"
        value={env}
        onChange={onEnv}
        options={{ live: 'Production', test: 'Sandbox' }}
      />
    </Input.Wrapper>
  );
}
