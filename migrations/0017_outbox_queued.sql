-- Since when a message waits: due_at moves with every attempt. Null in what was queued before.
alter table outbox add column queued_at timestamptz;
