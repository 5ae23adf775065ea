// One-shot star incast for ns-3.37: N servers -> router ("switch") -> client. Prints one CSV row;
// --trace=1 prints the events of every sender. validation/reference/ns3/README.md explains how to
// build the program, what --cc=FloorDctcp and --fix=1 mend in ns-3, and the columns.
#include "ns3/core-module.h"
#include "ns3/network-module.h"
#include "ns3/internet-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"
#include <chrono>
#include <algorithm>
using namespace ns3;
extern bool g_fix;  // in the changed tcp-tx-buffer.cc
class FloorDctcp : public TcpDctcp {
 public:
  static TypeId GetTypeId() { static TypeId t = TypeId("ns3::TcpFloorDctcp").SetParent<TcpDctcp>().AddConstructor<FloorDctcp>(); return t; }
  uint32_t GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t b) override { return std::max(TcpDctcp::GetSsThresh(tcb, b), 2 * tcb->m_segmentSize); }
  Ptr<TcpCongestionOps> Fork() override { return CopyObject<FloorDctcp>(this); }
};
NS_OBJECT_ENSURE_REGISTERED(FloorDctcp);
static bool g_trace = false;
static std::vector<int> cst;
static uint64_t g_openrtx = 0;
static std::vector<uint32_t> hi;
static std::vector<Ptr<TcpSocketBase>> bases;
static void CongI(uint32_t i, TcpSocketState::TcpCongState_t o, TcpSocketState::TcpCongState_t n) {
  cst[i] = n;
  if (g_fix && o == TcpSocketState::CA_RECOVERY && n == TcpSocketState::CA_OPEN) bases[i]->GetTxBuffer()->ResetRenoSack();
  if (g_trace) std::fprintf(stderr, "%.9f %u state %d->%d\n", Simulator::Now().GetSeconds() - 0.05, i, o, n);
}
static void TxI(uint32_t i, Ptr<const Packet> p, const TcpHeader& h, Ptr<const TcpSocketBase>) {
  if (!p->GetSize()) return;
  uint32_t seq = h.GetSequenceNumber().GetValue(); bool rtx = seq < hi[i]; hi[i] = std::max(hi[i], seq + p->GetSize());
  if (rtx && cst[i] == 0) ++g_openrtx;
  if (g_trace) std::fprintf(stderr, "%.9f %u tx %u %s st%d\n", Simulator::Now().GetSeconds() - 0.05, i, (seq - 1) / 1460, rtx ? "rtx" : "new", cst[i]);
}
static void CwI(uint32_t i, uint32_t, uint32_t n) { if (g_trace) std::fprintf(stderr, "%.9f %u cwnd %.2f\n", Simulator::Now().GetSeconds() - 0.05, i, n / 1460.); }
static void DropI(Ptr<const Packet> p) { if (g_trace) std::fprintf(stderr, "%.9f x drop\n", Simulator::Now().GetSeconds() - 0.05); }
static uint64_t g_hops = 0, g_drops = 0, g_rto = 0, g_rtoFlows = 0, g_frec = 0, g_bneck = 0, g_marks = 0;
static uint32_t g_done = 0, N = 8;
static std::vector<uint64_t> got; static std::vector<double> fct, tstart; static std::vector<uint32_t> flowRto;
static uint64_t SRU; static double g_last = 0;
static void Hop(Ptr<const Packet>) { ++g_hops; }
static void BN(Ptr<const Packet>) { ++g_bneck; }
static void Drop(Ptr<const Packet>) { ++g_drops; }
static void QdDrop(Ptr<const QueueDiscItem>) { ++g_drops; }
static void QdMark(Ptr<const QueueDiscItem>, const char*) { ++g_marks; }
static void Rto(uint32_t i, Time o, Time n) {
  if (o.IsStrictlyPositive() && n == std::min(o * 2, Time::FromDouble(60, Time::S))) { ++g_rto; ++flowRto[i]; }
}
static void Cong(TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t n) { if (n == TcpSocketState::CA_RECOVERY) ++g_frec; }
static void Recv(uint32_t i, Ptr<Socket> s) {
  while (Ptr<Packet> p = s->Recv()) {
    got[i] += p->GetSize();
    if (got[i] == SRU) { g_last = Simulator::Now().GetSeconds(); fct.push_back(g_last - tstart[i]); if (++g_done == N) Simulator::Stop(); }
  }
}
static std::map<std::pair<uint32_t,uint16_t>, uint32_t> who;
static void Accept(Ptr<Socket> s, const Address& from) {
  InetSocketAddress a = InetSocketAddress::ConvertFrom(from);
  uint32_t i = who.at({a.GetIpv4().Get(), 0});
  s->SetRecvCallback(MakeBoundCallback(&Recv, i));
}
static uint64_t sent_(Ptr<Socket> s, uint64_t n) { int r = s->Send(Create<Packet>((uint32_t)n)); return r > 0 ? r : 0; }
static std::vector<uint64_t> left;
static void Pump(uint32_t i, Ptr<Socket> s, uint32_t) {
  while (left[i] > 0) {
    uint32_t av = s->GetTxAvailable(); if (!av) return;
    uint64_t n = std::min<uint64_t>(std::min<uint64_t>(left[i], av), 65536);
    uint64_t r = sent_(s, n); if (!r) return; left[i] -= r;
  }
}
static void Conn(uint32_t i, Ptr<Socket> s) { Pump(i, s, 0); }
int main(int argc, char** argv) {
  std::string cc = "NewReno", rate = "1Gbps", delay = "25us", cfg = "ns3"; bool sack = true, count = true, prr = false, ts = false;
  double buf = 100e3; uint32_t bufp = 0, mss = 1460, iw = 10, seed = 1, delack = 1, rwnd = 4 << 20; double rtoms = 200, gapus = 20; double kbytes = 30e3; uint64_t sru = 65536;
  double tmax = 200; std::string start = "gap"; bool lt = true;
  CommandLine cmd;
  cmd.AddValue("N", "", N); cmd.AddValue("cc", "", cc); cmd.AddValue("rate", "", rate); cmd.AddValue("delay", "", delay); cmd.AddValue("sack", "", sack);
  cmd.AddValue("buf", "bytes", buf); cmd.AddValue("bufp", "packets (overrides buf)", bufp); cmd.AddValue("mss", "", mss); cmd.AddValue("iw", "", iw); cmd.AddValue("seed", "", seed);
  cmd.AddValue("delack", "", delack); cmd.AddValue("rto", "ms", rtoms); cmd.AddValue("gap", "us", gapus); cmd.AddValue("k", "bytes", kbytes); cmd.AddValue("sru", "", sru);
  cmd.AddValue("rwnd", "", rwnd); cmd.AddValue("count", "", count); cmd.AddValue("prr", "", prr); cmd.AddValue("ts", "", ts); cmd.AddValue("cfg", "", cfg); cmd.AddValue("tmax", "", tmax);
  cmd.AddValue("start", "gap|unif|sync", start); cmd.AddValue("lt", "limited transmit", lt);
  cmd.AddValue("fix", "", g_fix); cmd.AddValue("trace", "", g_trace); cmd.Parse(argc, argv);
  auto w0 = std::chrono::steady_clock::now();
  SRU = sru; got.assign(N, 0); tstart.assign(N, 0); flowRto.assign(N, 0); left.assign(N, sru);
  RngSeedManager::SetSeed(1); RngSeedManager::SetRun(seed);
  Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::Tcp" + cc));
  Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", StringValue(prr ? "ns3::TcpPrrRecovery" : "ns3::TcpClassicRecovery"));
  Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(sack));
  Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(ts));
  Config::SetDefault("ns3::TcpSocketBase::LimitedTransmit", BooleanValue(lt));
  Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MicroSeconds((uint64_t)(rtoms * 1000))));
  Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MicroSeconds(1)));
  Config::SetDefault("ns3::RttEstimator::InitialEstimation", TimeValue(MicroSeconds((uint64_t)std::max(rtoms * 1000, 100.0))));
  Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(mss));
  Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(iw));
  Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(delack));
  Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(std::max<uint64_t>(4 << 20, rwnd)));
  Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(rwnd));
  Config::SetDefault("ns3::TcpSocket::ConnTimeout", TimeValue(MicroSeconds((uint64_t)(rtoms * 1000))));
  Config::SetDefault("ns3::DropTailQueue<Packet>::MaxSize", StringValue("100000p"));
  bool dctcp = cc == "Dctcp" || cc == "FloorDctcp"; cst.assign(N, 0); hi.assign(N, 0); bases.resize(N);
  if (dctcp) Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue("On"));
  NodeContainer sw, cl, srv; sw.Create(1); cl.Create(1); srv.Create(N);
  InternetStackHelper st; st.Install(sw); st.Install(cl); st.Install(srv);
  PointToPointHelper p2p; p2p.SetDeviceAttribute("DataRate", StringValue(rate)); p2p.SetChannelAttribute("Delay", StringValue(delay));
  NetDeviceContainer all;
  NetDeviceContainer bn = p2p.Install(sw.Get(0), cl.Get(0)); all.Add(bn);
  std::string qs = bufp ? std::to_string(bufp) + "p" : std::to_string((uint64_t)buf) + "B";
  Ptr<PointToPointNetDevice> bdev = DynamicCast<PointToPointNetDevice>(bn.Get(0));
  Ipv4AddressHelper ah; ah.SetBase("10.255.0.0", "255.255.255.0");
  TrafficControlHelper tch;
  if (dctcp) {
    bdev->GetQueue()->SetMaxSize(QueueSize("1p"));
    double k = kbytes; uint32_t lim = (uint32_t)buf;
    tch.SetRootQueueDisc("ns3::RedQueueDisc", "MaxSize", QueueSizeValue(bufp ? QueueSize(qs) : QueueSize(QueueSizeUnit::BYTES, lim)), "MinTh", DoubleValue(bufp ? k / (mss + 40) : k),
      "MaxTh", DoubleValue(bufp ? k / (mss + 40) : k), "UseEcn", BooleanValue(true), "UseHardDrop", BooleanValue(false), "QW", DoubleValue(1.0), "LInterm", DoubleValue(50),
      "LinkBandwidth", StringValue(rate), "LinkDelay", StringValue(delay), "MeanPktSize", UintegerValue(mss + 40), "Gentle", BooleanValue(false));
    tch.Install(bn.Get(0));
    Ptr<QueueDisc> qd = sw.Get(0)->GetObject<TrafficControlLayer>()->GetRootQueueDiscOnDevice(bn.Get(0));
    qd->TraceConnectWithoutContext("Drop", MakeCallback(&QdDrop)); qd->TraceConnectWithoutContext("Mark", MakeCallback(&QdMark));
  } else {
    bdev->GetQueue()->SetMaxSize(QueueSize(qs));
    bdev->GetQueue()->TraceConnectWithoutContext("Drop", MakeCallback(&Drop));
  }
  sw.Get(0)->GetObject<TrafficControlLayer>()->TraceConnectWithoutContext("TcDrop", MakeCallback(&Drop)); sw.Get(0)->GetObject<TrafficControlLayer>()->TraceConnectWithoutContext("TcDrop", MakeCallback(&DropI));
  Ipv4InterfaceContainer ci = ah.Assign(bn);
  if (!dctcp) { tch.Uninstall(bn); } else tch.Uninstall(bn.Get(1));
  Ipv4Address ca = ci.GetAddress(1);
  Ptr<Ipv4StaticRouting> crt = Ipv4RoutingHelper::GetRouting<Ipv4StaticRouting>(cl.Get(0)->GetObject<Ipv4>()->GetRoutingProtocol());
  crt->SetDefaultRoute(ci.GetAddress(0), 1);
  std::vector<Ipv4Address> sa;
  for (uint32_t i = 0; i < N; i++) {
    NetDeviceContainer d = p2p.Install(srv.Get(i), sw.Get(0)); all.Add(d);
    std::string base = "10." + std::to_string(i / 250 + 1) + "." + std::to_string(i % 250) + ".0";
    ah.SetBase(base.c_str(), "255.255.255.0"); Ipv4InterfaceContainer ic = ah.Assign(d); tch.Uninstall(d);
    Ptr<Ipv4StaticRouting> r = Ipv4RoutingHelper::GetRouting<Ipv4StaticRouting>(srv.Get(i)->GetObject<Ipv4>()->GetRoutingProtocol());
    r->SetDefaultRoute(ic.GetAddress(1), 1); sa.push_back(ic.GetAddress(0)); who[{ic.GetAddress(0).Get(), 0}] = i;
  }
  if (count) for (uint32_t i = 0; i < all.GetN(); i++) all.Get(i)->TraceConnectWithoutContext("PhyRxEnd", MakeCallback(&Hop));
  cl.Get(0)->GetDevice(1)->TraceConnectWithoutContext("PhyRxEnd", MakeCallback(&BN));
  Ptr<Socket> ls = Socket::CreateSocket(cl.Get(0), TcpSocketFactory::GetTypeId());
  ls->Bind(InetSocketAddress(Ipv4Address::GetAny(), 5000)); ls->Listen();
  ls->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(), MakeCallback(&Accept));
  Ptr<UniformRandomVariable> U = CreateObject<UniformRandomVariable>(); U->SetAttribute("Max", DoubleValue(gapus * 1e-6));
  double t0 = 0.05, t = t0; std::vector<Ptr<Socket>> socks;
  for (uint32_t i = 0; i < N; i++) {
    if (start == "gap") { if (i) t += U->GetValue(); } else if (start == "unif") t = t0 + U->GetValue();
    tstart[i] = t;
    Ptr<Socket> s = Socket::CreateSocket(srv.Get(i), TcpSocketFactory::GetTypeId()); socks.push_back(s);
    s->Bind(); s->SetConnectCallback(MakeBoundCallback(&Conn, i), MakeNullCallback<void, Ptr<Socket>>());
    s->SetSendCallback(MakeBoundCallback(&Pump, i));
    s->TraceConnectWithoutContext("RTO", MakeBoundCallback(&Rto, i)); s->TraceConnectWithoutContext("CongState", MakeCallback(&Cong));
    bases[i] = DynamicCast<TcpSocketBase>(s); s->TraceConnectWithoutContext("CongState", MakeBoundCallback(&CongI, i)); s->TraceConnectWithoutContext("Tx", MakeBoundCallback(&TxI, i)); s->TraceConnectWithoutContext("CongestionWindow", MakeBoundCallback(&CwI, i));
    Simulator::ScheduleWithContext(srv.Get(i)->GetId(), Seconds(t), [s, ca]() { s->Connect(InetSocketAddress(ca, 5000)); });
  }
  Simulator::Stop(Seconds(tmax));
  auto w1 = std::chrono::steady_clock::now();
  Simulator::Run();
  auto w2 = std::chrono::steady_clock::now();
  std::sort(fct.begin(), fct.end());
  for (auto x : flowRto) if (x) ++g_rtoFlows;
  double dur = g_last - t0, gp = fct.size() && dur > 0 ? fct.size() * (double)SRU * 8 / dur / 1e6 : 0, mean = 0; for (auto x : fct) mean += x; if (fct.size()) mean /= fct.size();
  auto q = [&](double p) { return fct.empty() ? 0 : 1e3 * fct[std::min(fct.size() - 1, (size_t)(p * fct.size()))]; };
  std::printf("%s,%u,%u,%s,%d,%d,%d,%s,%s,%s,%.0f,%lu,%u,%u,%g,%s,%zu,%.4f,%.3f,%lu,%lu,%lu,%lu,%lu,%lu,%lu,%.4f,%.4f,%.4f,%.4f,%lu,%.3f,%.3f\n", cfg.c_str(), N, seed, cc.c_str(), sack, prr, ts, rate.c_str(), delay.c_str(), qs.c_str(), kbytes, sru, mss, iw, rtoms, start.c_str(),
    fct.size(), dur * 1e3, gp, g_rto, g_rtoFlows, g_frec, g_drops, g_marks, g_bneck, g_hops, mean * 1e3, q(.5), q(.99), q(.99999), (unsigned long)Simulator::GetEventCount(),
    std::chrono::duration<double>(w1 - w0).count(), std::chrono::duration<double>(w2 - w1).count());
  if (g_trace) std::fprintf(stderr, "openrtx %lu\n", g_openrtx);
  Simulator::Destroy();
}
