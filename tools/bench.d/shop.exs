# SPDX-License-Identifier: Apache-2.0
# An Elixir application that takes orders. Its clients order without pause, or at a fixed rate.
#
# The environment says how: SHOP_CLIENTS (processes), SHOP_RATE (orders a second of all clients; 0: without
# pause). A connection to SHOP_PORT gets one line and is closed: the nanoseconds of the clock, the orders
# so far, and a histogram of their time from when each was due. Bucket N of the histogram counts orders of
# 2^(N/4) microseconds or more, and less than the next bucket's.

defmodule Shop.Shelf do
  use GenServer

  def start_link(number), do: GenServer.start_link(__MODULE__, number, name: name(number))
  def take(item, count), do: GenServer.call(name(rem(item, 4)), {:take, item, count})

  def init(_), do: {:ok, %{}}

  def handle_call({:take, item, count}, _from, stock) do
    {left, stock} =
      Map.get_and_update(stock, item, fn
        n when is_integer(n) and n >= count -> {n - count, n - count}
        _ -> {1000 - count, 1000 - count}
      end)

    {:reply, left, stock}
  end

  defp name(number), do: {:via, Registry, {Shop.Shelves, number}}
end

defmodule Shop.Order do
  defstruct [:id, :customer, :lines]

  def new(id) do
    lines = for n <- 1..(3 + rem(id, 5)), do: %{item: rem(id * n, 500), count: 1 + rem(n, 3)}
    %__MODULE__{id: id, customer: "customer #{rem(id, 1000)}", lines: lines}
  end

  def serve(%__MODULE__{} = order) do
    freight = Task.async(fn -> freight(order.lines) end)

    lines =
      order.lines
      |> Enum.map(&Map.put(&1, :left, Shop.Shelf.take(&1.item, &1.count)))
      |> Enum.sort_by(& &1.left)

    sum = Enum.reduce(lines, 0, &(&1.count * price(&1.item) + &2))
    :ets.update_counter(:shop_customers, order.customer, sum, {order.customer, 0})
    bill(order, lines, sum + Task.await(freight))
  end

  defp price(item), do: 100 + :erlang.phash2(item, 900)

  defp freight(lines) do
    lines |> Enum.map(&(&1.count * rem(price(&1.item), 7))) |> Enum.sum()
  end

  defp bill(order, lines, sum) do
    rows = Enum.map_join(lines, "\n", &"#{&1.count} x #{&1.item}: #{inspect(&1)}")
    String.upcase(order.customer) <> "\n" <> rows <> "\n" <> Integer.to_string(sum)
  end
end

defmodule Shop.Client do
  @buckets 128

  def buckets, do: @buckets

  def run(number, interval, histogram) do
    order(number * 7919, System.monotonic_time() + div(number * interval, 4), interval, histogram)
  end

  defp order(id, due, interval, histogram) do
    due = if interval == 0, do: System.monotonic_time(), else: wait(due)
    id |> Shop.Order.new() |> Shop.Order.serve() |> byte_size()
    took = System.convert_time_unit(System.monotonic_time() - due, :native, :microsecond)
    :counters.add(histogram, min(trunc(4 * :math.log2(max(took, 1))) + 1, @buckets), 1)
    order(id + 1, due + interval, interval, histogram)
  end

  defp wait(due) do
    case System.convert_time_unit(due - System.monotonic_time(), :native, :millisecond) do
      ms when ms > 0 -> Process.sleep(ms)
      _ -> :ok
    end

    due
  end
end

defmodule Shop.Reports do
  def listen(port) do
    {:ok, listener} = :gen_tcp.listen(port, [:binary, active: false, ip: {127, 0, 0, 1}])
    listener
  end

  def serve(listener, histogram) do
    {:ok, socket} = :gen_tcp.accept(listener)
    counts = Enum.map(1..Shop.Client.buckets(), &:counters.get(histogram, &1))
    line = Enum.join([System.monotonic_time(:nanosecond), Enum.sum(counts) | counts], " ")
    :gen_tcp.send(socket, [line, "\n"])
    :gen_tcp.close(socket)
    serve(listener, histogram)
  end
end

[port, clients, rate] =
  for name <- ~w(PORT CLIENTS RATE), do: String.to_integer(System.fetch_env!("SHOP_" <> name))

:ets.new(:shop_customers, [:named_table, :public, write_concurrency: true])
{:ok, _} = Registry.start_link(keys: :unique, name: Shop.Shelves)
for number <- 0..3, do: {:ok, _} = Shop.Shelf.start_link(number)

histogram = :counters.new(Shop.Client.buckets(), [:write_concurrency])
second = System.convert_time_unit(1, :second, :native)
interval = if rate > 0, do: div(clients * second, rate), else: 0

for number <- 1..clients, do: spawn_link(Shop.Client, :run, [number, interval, histogram])
listener = Shop.Reports.listen(port)
IO.puts("ready")
Shop.Reports.serve(listener, histogram)
